"""Reads responses: the body of a success, or the error of a rejection."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Optional

from .errors import ApiError, HourbankError, Rejection
from .types import FieldError

#: Far above the largest page (100 deliveries with ten attempts each, and 1,000 characters of each response); a runaway
#: response ends here.
RESPONSE_BYTES_MAX = 64 * 1024 * 1024
#: Shorter ones could be part of ordinary words.
REDACTED_LENGTH_MIN = 8


def read_response(
    name: str, status: int, headers: Mapping[str, str], body: bytes, secrets: Iterable[str], wall_time: float
) -> dict[str, Any]:
    """Returns the body of a success, and raises an ``ApiError`` for anything else."""
    if 200 <= status < 300:
        parsed = _parse_object(body)
        if parsed is None:
            raise HourbankError(f"{name}: {status}, but the response is not a JSON object", "invalid_response")
        return parsed
    # A response may repeat what was sent, and errors end up in logs.
    for secret in secrets:
        if len(secret) >= REDACTED_LENGTH_MIN:
            body = body.replace(secret.encode(), b"[redacted]")
    raise ApiError(name, _read_rejection(status, headers, _parse_object(body) or {}, wall_time))


def require_data(name: str, body: Mapping[str, Any]) -> Any:
    data = body.get("data")
    if not isinstance(data, (dict, list)):
        raise HourbankError(f"{name}: the response has no data", "invalid_response")
    return data


def _read_rejection(status: int, headers: Mapping[str, str], body: Mapping[str, Any], wall_time: float) -> Rejection:
    code = body.get("error")
    description = body.get("error_description")
    request_id = body.get("request_id", headers.get("request-id"))
    data = body.get("data")
    return Rejection(
        status=status,
        code=code if isinstance(code, str) else f"http_{status}",
        description=description if isinstance(description, str) else "The response is not one of the service.",
        errors=_field_errors(body.get("errors")),
        request_id=request_id if isinstance(request_id, str) else None,
        data=data if isinstance(data, dict) else None,
        retry_after=read_retry_after(headers.get("retry-after"), headers.get("date"), wall_time),
        required_scopes=_required_scopes(headers.get("www-authenticate", "")),
    )


def read_retry_after(value: Optional[str], date: Optional[str], wall_time: float) -> Optional[float]:
    """Seconds, or a date (RFC 9110 10.2.3), which is compared with the sender's own clock if it is given."""
    text = (value or "").strip()
    if re.fullmatch(r"[0-9]+", text):
        return float(text)
    at = _http_date(text)
    if at is None:
        return None
    sent_at = _http_date(date or "")
    return max(0.0, at - (wall_time if sent_at is None else sent_at))


def _http_date(text: str) -> Optional[float]:
    if not re.match(r"[A-Z][a-z]+,? ", text):
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _required_scopes(challenge: str) -> list[str]:
    """RFC 6750 3: only the challenge names the scope."""
    found = re.search(r'error="insufficient_scope".*\bscope="([^"]*)"', challenge)
    return found.group(1).split() if found else []


def _field_errors(errors: object) -> list[FieldError]:
    if not isinstance(errors, list):
        return []
    return [
        FieldError(code=error["code"], field=error["field"], message=error["message"])
        for error in errors
        if isinstance(error, dict) and all(isinstance(error.get(part), str) for part in ("code", "field", "message"))
    ]


def _parse_object(body: bytes) -> Optional[dict[str, Any]]:
    try:
        value = json.loads(body)
    # A deeply nested body exhausts the stack of the parser.
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
