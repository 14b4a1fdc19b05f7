"""Checks what a client is constructed with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union
from urllib.parse import urlsplit

from ._assertion import Signer
from ._request import API_PREFIX

Scopes = Union[str, Sequence[str]]
PrivateKeyText = Union[str, Mapping[str, Any]]


def read_base_url(text: str) -> str:
    """With or without the prefix of the API and a slash at the end."""
    url = urlsplit(text) if isinstance(text, str) else urlsplit("")
    if url.scheme not in ("http", "https") or not url.hostname or "@" in url.netloc or url.query or url.fragment:
        raise ValueError("base_url must be an http(s) address without credentials, query and fragment.")
    path = url.path.rstrip("/").removesuffix(API_PREFIX)
    return f"{url.scheme}://{url.netloc}{path}"


def read_scope(scope: Optional[Scopes]) -> Optional[str]:
    return scope if scope is None or isinstance(scope, str) else " ".join(scope)


def create_authentication(
    base_url: str,
    client_id: str,
    client_secret: Optional[str],
    private_key: Optional[PrivateKeyText],
    key_id: Optional[str],
    audience: Optional[str],
    wall_time: Callable[[], float],
) -> Callable[[], dict[str, str]]:
    """Authenticates by a secret or by a key, and not by both."""
    _require_text("client_id", client_id)
    if private_key is None:
        secret = _require_text("client_secret", client_secret)
        return lambda: {"client_id": client_id, "client_secret": secret}
    if client_secret is not None:
        raise ValueError("Pass a client_secret or a private_key, not both.")
    audience = audience or f"{base_url}{API_PREFIX}/oauth/token"
    return Signer(client_id, private_key, key_id, audience, wall_time).parameters


def _require_text(name: str, value: Optional[str]) -> str:
    if isinstance(value, str) and value:
        return value
    raise ValueError(f"{name} must be a text that is not empty.")
