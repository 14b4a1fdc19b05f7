from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Optional

from .errors import HourbankError

#: How long before its end a token is replaced, while other calls still use the old one.
RENEW_AHEAD = 120.0
#: How long before its end a token is no longer used: a call in flight must not outlive it.
EXPIRY_MARGIN = 10.0
#: RFC 6749 A.12. Anything else could not be sent in a header, and the error about it would quote it.
TOKEN_PATTERN = re.compile(r"[\x21-\x7e]+")


class TokenStore:
    """Holds one access token and knows how long it can be used."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._token: Optional[str] = None
        self._fresh_until = 0.0
        self._usable_until = 0.0

    def fresh(self) -> Optional[str]:
        return self._token if self._now() < self._fresh_until else None

    def usable(self) -> Optional[str]:
        return self._token if self._now() < self._usable_until else None

    def store(self, response: dict[str, Any], asked_at: float) -> str:
        token, lifetime = _read_token_response(response)
        self._token = token
        # Counted from before the request. A short-lived token is still used for half its life.
        self._fresh_until = asked_at + lifetime - min(RENEW_AHEAD, lifetime / 2)
        self._usable_until = asked_at + lifetime - min(EXPIRY_MARGIN, lifetime / 2)
        return token

    def forget(self, token: str) -> None:
        if self._token == token:
            self._fresh_until = self._usable_until = 0.0
            self._token = None

    def take(self) -> Optional[str]:
        """Returns the token for revocation, and holds it no longer."""
        token = self._token
        if token is not None:
            self.forget(token)
        return token


def _read_token_response(body: dict[str, Any]) -> tuple[str, float]:
    token, token_type, lifetime = body.get("access_token"), body.get("token_type"), body.get("expires_in")
    if not isinstance(token, str) or not TOKEN_PATTERN.fullmatch(token):
        raise _unusable("access_token")
    if not isinstance(token_type, str) or token_type.lower() != "bearer":
        raise _unusable("token_type")
    if not isinstance(lifetime, (int, float)) or isinstance(lifetime, bool) or not lifetime > 0:
        raise _unusable("expires_in")
    return token, float(lifetime)


def _unusable(field: str) -> HourbankError:
    return HourbankError(f"POST /oauth/token: the response has no usable {field}", "invalid_response")
