"""Signatures of webhooks by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional, Protocol, Union, cast

from .errors import WebhookVerificationError
from .events import HourbankEvent

TOLERANCE_SECONDS_DEFAULT = 5 * 60
#: A rotation needs two. More would only take time, which a stranger could make us spend.
SIGNATURES_MAX = 20
SECRET_PREFIX = "whsec_"
VERSION = "v1"


class WebhookHeaders(Protocol):
    """A dict, or the headers of any web framework; the case of the names does not matter."""

    def items(self) -> Iterable[tuple[str, Any]]: ...


def verify_webhook(
    body: Union[bytes, bytearray, memoryview, str],
    headers: WebhookHeaders,
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = TOLERANCE_SECONDS_DEFAULT,
    now: Callable[[], float] = time.time,
) -> HourbankEvent:
    """Verifies a delivery and returns its event.

    ``body`` is the body exactly as received: text or bytes, not parsed. During a rotation pass both secrets; it is
    enough if one matches. Raises a ``WebhookVerificationError`` for anything that must not be trusted. Deliveries
    arrive at least once: an event with an ``id`` that you have already processed is the same event.
    """
    content = _to_bytes(body)
    event_id = _require_header(headers, "webhook-id")
    timestamp = _require_header(headers, "webhook-timestamp")
    signatures = _read_signatures(_require_header(headers, "webhook-signature"))
    _check_timestamp(timestamp, tolerance, now())
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        expected = _sign(_read_secret(secret), event_id, timestamp, content)
        if any(hmac.compare_digest(expected, signature) for signature in signatures):
            return _read_event(event_id, content)
    raise WebhookVerificationError("no_matching_signature", "No signature fits the body and the secrets.")


def sign_webhook(event_id: str, body: bytes, secret: str, timestamp: int) -> dict[str, str]:
    """Returns the headers of a delivery, for tests of a receiver and for ``listen``."""
    signature = _sign(_read_secret(secret), event_id, str(timestamp), body)
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"{VERSION},{base64.b64encode(signature).decode()}",
        "content-type": "application/json",
    }


def _sign(key: bytes, event_id: str, timestamp: str, body: bytes) -> bytes:
    return hmac.new(key, _encode(f"{event_id}.{timestamp}.") + body, hashlib.sha256).digest()


def _encode(text: str) -> bytes:
    # Frameworks turn bytes that are not UTF-8 into lone surrogates, which must not raise another error.
    return text.encode(errors="surrogatepass")


def _to_bytes(body: object) -> bytes:
    if isinstance(body, str):
        return _encode(body)
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise WebhookVerificationError("body_not_raw", "Pass the body as received, as text or bytes, not parsed.")


def _require_header(headers: WebhookHeaders, name: str) -> str:
    for key, value in headers.items():
        if str(key).lower() == name and value:
            return " ".join(value) if isinstance(value, (list, tuple)) else str(value)
    raise WebhookVerificationError("missing_header", f"The header {name} is missing.")


def _check_timestamp(text: str, tolerance: float, now: float) -> None:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise WebhookVerificationError(
            "invalid_timestamp", "The header webhook-timestamp is not a number of seconds."
        )
    age = int(now) - int(text)
    # Written so that a tolerance of NaN admits nothing.
    if not age <= tolerance:
        raise WebhookVerificationError("timestamp_too_old", f"The delivery is {age} seconds old.")
    if not -age <= tolerance:
        raise WebhookVerificationError("timestamp_too_new", f"The delivery is from {-age} seconds ahead.")


def _read_signatures(header: str) -> list[bytes]:
    """Signatures of other versions are skipped."""
    parts = [signature.split(",") for signature in header.split(" ")[:SIGNATURES_MAX]]
    decoded = [_from_base64(part[1]) for part in parts if part[0] == VERSION and len(part) > 1]
    return [signature for signature in decoded if signature is not None]


def _read_secret(secret: str) -> bytes:
    key = _from_base64(secret.removeprefix(SECRET_PREFIX)) if isinstance(secret, str) else None
    if not key:
        raise WebhookVerificationError("invalid_secret", f"A secret is {SECRET_PREFIX} and base64.")
    return key


def _from_base64(text: str) -> Optional[bytes]:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _read_event(event_id: str, body: bytes) -> HourbankEvent:
    try:
        event = json.loads(body.decode())
    except ValueError:
        event = None
    if (
        not isinstance(event, dict)
        or not isinstance(event.get("type"), str)
        or not isinstance(event.get("timestamp"), str)
        or "data" not in event
    ):
        raise WebhookVerificationError("malformed_body", "The body is signed, but it is not an event.")
    fields = {"id": event_id, "type": event["type"], "timestamp": event["timestamp"], "data": event["data"]}
    return cast(HourbankEvent, fields)
