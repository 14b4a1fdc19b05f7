# Made from _async by `npm run python:sync`; not to be edited.
from __future__ import annotations

import time
from collections.abc import Iterator, Callable
from typing import Optional

import httpx

from .._forwarding import (
    AWAY_STATUSES,
    FORWARD_TIMEOUT,
    POLL_SECONDS_DEFAULT,
    RETRY_SECONDS,
    body_of,
    is_place_lost,
    is_service_away,
)
from .._paging import LIMIT_MAX, Page, PageArguments
from ..errors import HourbankError
from ..events import HourbankEvent
from ..types import PageMeta
from ..webhooks import sign_webhook
from .client import Hourbank
from .runtime import Clock

Report = Callable[[Optional[str]], object]


def listen(
    client: Hourbank,
    *,
    forward_to: str,
    secret: str,
    include_past: bool = False,
    on_ready: Optional[Callable[[], object]] = None,
    on_trouble: Optional[Report] = None,
    poll_seconds: float = POLL_SECONDS_DEFAULT,
) -> Iterator[tuple[HourbankEvent, int]]:
    """Follows the feed and posts each event, signed like a webhook, to an address that the service cannot reach.

    Yields each event with the status of the receiver's response. Waits for a service or a receiver that is away, and
    continues where it was; ``on_trouble`` is called with what is wrong, and with None when it is over. ``on_ready`` is
    called once, when every later event will be forwarded. Raises an error if the service rejects the credentials.
    """
    listener = Listener(client, on_trouble or (lambda message: None))
    with httpx.Client(timeout=FORWARD_TIMEOUT, follow_redirects=False) as http:
        is_forwarding = include_past
        if is_forwarding and on_ready is not None:
            on_ready()
        while True:
            page = listener.next_page()
            for event in page.data if is_forwarding else []:
                yield event, listener.forward(http, forward_to, secret, event)
            # Only now: a caller that stops in the middle of a page has not passed it.
            listener.cursor = page.meta["next_cursor"] or listener.cursor
            if page.meta["has_more"]:
                continue
            if not is_forwarding and on_ready is not None:
                on_ready()
            is_forwarding = True
            listener.clock.sleep(poll_seconds)


class Listener:
    """Repeats what fails until it succeeds, and reports trouble once."""

    def __init__(self, client: Hourbank, on_trouble: Report) -> None:
        self.cursor: Optional[str] = None
        self.clock = Clock()
        self._client = client
        self._on_trouble = on_trouble
        self._is_troubled = False

    def next_page(self) -> Page[HourbankEvent, PageMeta]:
        while True:
            query: PageArguments = {"limit": LIMIT_MAX}
            if self.cursor is not None:
                query["cursor"] = self.cursor
            try:
                page = self._client.events.list(**query)
            except HourbankError as error:
                if not is_service_away(error):
                    raise
                if is_place_lost(error):
                    self.cursor = None
                self._wait(str(error))
            else:
                self._recover()
                return page

    def forward(self, http: httpx.Client, url: str, secret: str, event: HourbankEvent) -> int:
        body = body_of(event)
        while True:
            # Signed for each attempt: a receiver rejects a signature that is too old.
            headers = sign_webhook(event["id"], body, secret, int(time.time()))
            try:
                status = (http.post(url, content=body, headers=headers)).status_code
            except httpx.TransportError:
                self._wait(f"The receiver at {url} does not respond.")
                continue
            if status in AWAY_STATUSES:
                self._wait(f"The receiver responds with {status}.")
                continue
            self._recover()
            return status

    def _wait(self, message: str) -> None:
        if not self._is_troubled:
            self._on_trouble(message)
        self._is_troubled = True
        self.clock.sleep(RETRY_SECONDS)

    def _recover(self) -> None:
        if self._is_troubled:
            self._on_trouble(None)
        self._is_troubled = False
