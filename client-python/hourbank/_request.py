"""What is sent: operations, their limits, and how values become JSON and queries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Literal, Optional, TypedDict
from urllib.parse import urlencode

API_PREFIX = "/api/partner/v1"
TIMEOUT_DEFAULT = 30.0
TOTAL_TIMEOUT_DEFAULT = 120.0
#: Locks and pauses do not accept much longer ones.
TIMEOUT_MAX = 24 * 60 * 60


class CallOptions(TypedDict, total=False):
    """Keyword arguments of every call, for this call alone. Times are in seconds."""

    #: For each attempt, including its response.
    timeout: float
    #: For the whole call: token, attempts and the pauses between them.
    total_timeout: float
    #: Attempts after the first; 0: never.
    retries: int


CALL_OPTIONS = frozenset(CallOptions.__annotations__)


@dataclass(frozen=True)
class Limits:
    timeout: float = TIMEOUT_DEFAULT
    total_timeout: float = TOTAL_TIMEOUT_DEFAULT
    #: None: as many as fit into the total timeout.
    retries: Optional[int] = None

    def __post_init__(self) -> None:
        for name in ("timeout", "total_timeout"):
            if not 0 < getattr(self, name) <= TIMEOUT_MAX:
                raise ValueError(f"{name} must be more than 0 and at most {TIMEOUT_MAX} seconds.")
        if self.retries is not None and not self.retries >= 0:
            raise ValueError("retries must be 0 or more.")

    def changed(self, options: CallOptions) -> Limits:
        unknown = set(options) - CALL_OPTIONS
        if unknown:
            raise TypeError(f"unexpected keyword argument {', '.join(sorted(unknown))}")
        return Limits(
            options.get("timeout", self.timeout),
            options.get("total_timeout", self.total_timeout),
            options.get("retries", self.retries),
        )


@dataclass(frozen=True)
class Operation:
    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    query: Optional[Mapping[str, object]] = None
    #: Serialized once for all attempts: later changes of the caller's objects must not make it another credit.
    body: Optional[bytes] = None
    #: Doing it twice is the same as doing it once: it is sent again when its response is lost.
    repeatable: bool = True
    #: After a lost response, not found means that it was carried out.
    ends_in_not_found: bool = False

    @property
    def name(self) -> str:
        """For messages: without the query, which may contain personal data."""
        return f"{self.method} {self.path}"

    @property
    def path_and_query(self) -> str:
        given = {name: _text(value) for name, value in (self.query or {}).items() if value is not None}
        return f"{self.path}?{urlencode(given)}" if given else self.path


def encode_body(fields: Mapping[str, object]) -> bytes:
    """Leaves out what is None: the API treats a missing field as not given."""
    given = {name: value for name, value in fields.items() if value is not None}
    text = json.dumps(given, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_json_value)
    # UTF-8 has no lone surrogates, but JSON can escape them. The service then rejects the field.
    return text.encode(errors="backslashreplace")


def id_text(value: int) -> str:
    """Ids are parts of paths, where '..' or 'a/b' would lead somewhere else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise TypeError("An id is an integer.")


def _json_value(value: object) -> Any:
    # Hours have at most two decimals, which a float writes exactly as they were given.
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, (date, datetime)):
        return _text(value)
    raise TypeError(f"{type(value).__name__} cannot be sent.")


def _text(value: object) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("A datetime needs a time zone, for instance datetime.now(timezone.utc).")
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
