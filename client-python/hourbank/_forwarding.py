"""What listening to events needs besides reading and posting them."""

from __future__ import annotations

import base64
import json
import secrets
from urllib.parse import urlsplit

from .errors import ApiError, HourbankError
from .events import HourbankEvent
from .webhooks import SECRET_PREFIX

POLL_SECONDS_DEFAULT = 1.0
#: As long as a receiver has for a real delivery.
FORWARD_TIMEOUT = 15.0
#: How long to wait for a receiver or a service that is away.
RETRY_SECONDS = 1.0
#: Soon enough to tell a developer what is wrong, and longer than the service takes to respond.
READ_TIMEOUT = 15.0
#: A proxy in front of a receiver that restarts; anything else is the receiver's own answer.
AWAY_STATUSES = frozenset({502, 503, 504})
#: The place in the feed is lost: it was too old, or the service was restored from a backup.
LOST_PLACE = frozenset({"cursor_expired", "resync_required"})


def create_webhook_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def require_address(forward_to: str) -> None:
    url = urlsplit(forward_to)
    # Without a scheme, ``localhost:`` would be taken for one.
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("forward_to must be an address, such as http://localhost:3000/hooks")


def body_of(event: HourbankEvent) -> bytes:
    fields = {"type": event["type"], "timestamp": event["timestamp"], "data": event["data"]}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def is_place_lost(error: HourbankError) -> bool:
    return isinstance(error, ApiError) and error.code in LOST_PLACE


def is_service_away(error: HourbankError) -> bool:
    if isinstance(error, ApiError):
        return error.status >= 500 or error.status == 429 or is_place_lost(error)
    return error.kind != "closed"
