"""The SDK for Hourbank's partner API: members, listings, hours, community totals and events."""

from . import types
from ._async.client import AsyncHourbank
from ._credits import CreditResult, CreditSummary, NewCredit
from ._paging import Changes, Page
from ._request import CallOptions
from ._subscriptions import ChangedSubscription, CreatedSubscription
from ._sync.client import Hourbank
from ._version import __version__
from .errors import (
    ApiError,
    ErrorKind,
    HourbankError,
    WebhookVerificationError,
    WebhookVerificationReason,
)
from .events import HourbankEvent, UnknownEvent
from .webhooks import WebhookHeaders, sign_webhook, verify_webhook

__all__ = [
    "ApiError",
    "AsyncHourbank",
    "CallOptions",
    "ChangedSubscription",
    "Changes",
    "CreatedSubscription",
    "CreditResult",
    "CreditSummary",
    "ErrorKind",
    "Hourbank",
    "HourbankError",
    "HourbankEvent",
    "NewCredit",
    "Page",
    "UnknownEvent",
    "WebhookHeaders",
    "WebhookVerificationError",
    "WebhookVerificationReason",
    "__version__",
    "sign_webhook",
    "types",
    "verify_webhook",
]
