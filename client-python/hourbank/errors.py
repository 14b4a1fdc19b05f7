from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, Optional, cast

from .types import Credit, ErrorCode, FieldError

#: - ``network``: no response, or one that broke off
#: - ``timeout``: no response in time
#: - ``invalid_response``: a response that is not one of this API, such as the page of a proxy
#: - ``closed``: called after ``close()``
#: - ``api``: rejected by the service; the error is an ``ApiError``
ErrorKind = Literal["network", "timeout", "invalid_response", "closed", "api"]


class HourbankError(Exception):
    """Anything that goes wrong between a call and its result. Contains neither token nor secret."""

    def __init__(self, message: str, kind: ErrorKind = "network") -> None:
        # All arguments go to Exception, so that errors can be pickled and cross process boundaries.
        super().__init__(message, kind)
        self.message = message
        self.kind: ErrorKind = kind

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Rejection:
    """What the service, or a proxy in front of it, answered."""

    status: int
    code: str
    description: str
    errors: list[FieldError] = field(default_factory=list)
    request_id: Optional[str] = None
    data: Optional[dict[str, Any]] = None
    retry_after: Optional[float] = None
    required_scopes: list[str] = field(default_factory=list)


class ApiError(HourbankError):
    """The service rejected the call."""

    def __init__(self, operation: str, rejection: Rejection) -> None:
        scopes = " or ".join(rejection.required_scopes)
        needs = f" Needs the scope {scopes}." if scopes else ""
        super().__init__(f"{operation}: {rejection.status} {rejection.code}: {rejection.description}{needs}", "api")
        self.args = (operation, rejection)
        self.status = rejection.status
        #: Stable, for programs. ``http_502`` and the like if the response did not come from the service itself.
        self.code = cast("ErrorCode", rejection.code)
        #: For people.
        self.description = rejection.description
        #: Every problem found with the request, one per field.
        self.errors = rejection.errors
        #: Quote it when you ask the operator for help.
        self.request_id = rejection.request_id
        #: The resource that causes a conflict; see ``stored_credit``.
        self.data = rejection.data
        #: Seconds to wait before the next call, if the service said so.
        self.retry_after = rejection.retry_after
        #: With ``insufficient_scope``: one of these is needed.
        self.required_scopes = rejection.required_scopes

    @property
    def stored_credit(self) -> Optional[Credit]:
        """With ``reference_conflict``: the credit that already has this reference."""
        if self.code != "reference_conflict" or self.data is None:
            return None
        return cast(Credit, self.data)


#: - ``body_not_raw``: pass the body as received, as text or bytes, not parsed
#: - ``missing_header``: not a delivery, or a proxy removed its headers
#: - ``invalid_timestamp``, ``timestamp_too_old``, ``timestamp_too_new``: replayed, or a clock is wrong
#: - ``invalid_secret``: one of the given secrets is not a secret of Standard Webhooks
#: - ``no_matching_signature``: forged, changed on its way, or signed with another secret
#: - ``malformed_body``: signed, but not an event
WebhookVerificationReason = Literal[
    "body_not_raw",
    "missing_header",
    "invalid_timestamp",
    "timestamp_too_old",
    "timestamp_too_new",
    "invalid_secret",
    "no_matching_signature",
    "malformed_body",
]


class WebhookVerificationError(Exception):
    """A delivery that must not be trusted."""

    def __init__(self, reason: WebhookVerificationReason, message: str) -> None:
        super().__init__(reason, message)
        self.reason: WebhookVerificationReason = reason
        self.message = message

    def __str__(self) -> str:
        return self.message
