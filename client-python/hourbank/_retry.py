"""Decides what is worth another attempt, and when."""

from __future__ import annotations

from collections.abc import Callable

from ._request import Limits
from .errors import ApiError, HourbankError

BACKOFF_BASE = 0.5
#: Short enough to notice soon that a restarted service is back.
BACKOFF_MAX = 10.0
#: Something in between, or a service that is away for the moment: the same call may well succeed later.
TRANSIENT_STATUSES = frozenset({408, 429, 502, 503, 504})
TRANSIENT_KINDS = frozenset({"network", "timeout", "invalid_response"})


class Retries:
    """The attempts of one call."""

    def __init__(self, limits: Limits, now: Callable[[], float], random: Callable[[], float]) -> None:
        self._now = now
        self._random = random
        self._deadline = now() + limits.total_timeout
        self._retries = limits.retries
        self._failures = 0

    def left(self) -> float:
        return self._deadline - self._now()

    def pause_after(self, error: HourbankError, *, repeatable: bool) -> float:
        """Returns the seconds to wait before the next attempt, or raises the error if there is none."""
        pause = self._pause(error)
        is_last = self._retries is not None and self._failures >= self._retries
        # A pause that would end too late is not started: the caller learns immediately when to come back.
        if is_last or not is_worth_repeating(error, repeatable) or pause >= self.left():
            raise error
        self._failures += 1
        return pause

    def _pause(self, error: HourbankError) -> float:
        """Exponential with full jitter, so that many clients do not return together, after what Retry-After asks for."""
        asked = error.retry_after if isinstance(error, ApiError) else None
        # The exponent is bounded: a call may be retried very often.
        return (asked or 0.0) + self._random() * min(BACKOFF_MAX, BACKOFF_BASE * 2.0 ** min(self._failures, 10))


def is_transient(error: HourbankError) -> bool:
    # A person switched the API off; the caller should see the reason immediately.
    if isinstance(error, ApiError):
        return error.status in TRANSIENT_STATUSES and error.code != "partner_api_disabled"
    return error.kind in TRANSIENT_KINDS


def is_worth_repeating(error: HourbankError, repeatable: bool) -> bool:
    # 429 is sent before anything is done, so even what must not be done twice can be sent again.
    return is_transient(error) and (repeatable or (isinstance(error, ApiError) and error.status == 429))
