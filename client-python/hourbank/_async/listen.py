from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Optional

import httpx

from .._forwarding import (
    AWAY_STATUSES,
    FORWARD_TIMEOUT,
    POLL_SECONDS_DEFAULT,
    READ_TIMEOUT,
    RETRY_SECONDS,
    body_of,
    is_place_lost,
    is_service_away,
    require_address,
)
from .._paging import LIMIT_MAX, Page, PageArguments
from .._request import TIMEOUT_MAX
from ..errors import ApiError, HourbankError
from ..events import HourbankEvent
from ..types import PageMeta
from ..webhooks import sign_webhook
from .client import AsyncHourbank
from .runtime import Clock

Report = Callable[[Optional[str]], object]


async def listen(
    client: AsyncHourbank,
    *,
    forward_to: str,
    secret: str,
    include_past: bool = False,
    on_ready: Optional[Callable[[], object]] = None,
    on_trouble: Optional[Report] = None,
    poll_seconds: float = POLL_SECONDS_DEFAULT,
) -> AsyncIterator[tuple[HourbankEvent, int]]:
    """Follows the feed and posts each event, signed like a webhook, to an address that the service cannot reach.

    Yields each event with the status of the receiver's response. Waits for a service or a receiver that is away, and
    continues where it was; ``on_trouble`` is called with what is wrong, and with None when it is over. ``on_ready`` is
    called once, when every later event will be forwarded. Raises an error if the service rejects the credentials.
    """
    require_address(forward_to)
    listener = Listener(client, on_trouble or (lambda message: None))
    async with httpx.AsyncClient(timeout=FORWARD_TIMEOUT, follow_redirects=False) as http:
        is_forwarding = include_past
        if is_forwarding and on_ready is not None:
            on_ready()
        while True:
            page = await listener.next_page()
            for event in page.data if is_forwarding else []:
                yield event, await listener.forward(http, forward_to, secret, event)
            # Only now: a caller that stops in the middle of a page has not passed it.
            listener.cursor = page.meta["next_cursor"] or listener.cursor
            if page.meta["has_more"]:
                continue
            if not is_forwarding and on_ready is not None:
                on_ready()
            is_forwarding = True
            await listener.clock.sleep(poll_seconds)


class Listener:
    """Repeats what fails until it succeeds, and reports trouble once."""

    def __init__(self, client: AsyncHourbank, on_trouble: Report) -> None:
        self.cursor: Optional[str] = None
        self.clock = Clock()
        self._client = client
        self._on_trouble = on_trouble
        self._is_troubled = False

    async def next_page(self) -> Page[HourbankEvent, PageMeta]:
        while True:
            query: PageArguments = {"limit": LIMIT_MAX, "total_timeout": READ_TIMEOUT}
            if self.cursor is not None:
                query["cursor"] = self.cursor
            try:
                page = await self._client.events.list(**query)
            except HourbankError as error:
                if not is_service_away(error):
                    raise
                if is_place_lost(error):
                    self.cursor = None
                # It may ask for a longer pause than a call takes.
                asked = error.retry_after if isinstance(error, ApiError) else None
                await self._wait(str(error), min(max(RETRY_SECONDS, asked or 0.0), TIMEOUT_MAX))
            else:
                self._recover()
                return page

    async def forward(self, http: httpx.AsyncClient, url: str, secret: str, event: HourbankEvent) -> int:
        body = body_of(event)
        while True:
            # Signed for each attempt: a receiver rejects a signature that is too old.
            headers = sign_webhook(event["id"], body, secret, int(time.time()))
            try:
                status = (await http.post(url, content=body, headers=headers)).status_code
            except httpx.TransportError:
                await self._wait(f"The receiver at {url} does not respond.")
                continue
            if status in AWAY_STATUSES:
                await self._wait(f"The receiver responds with {status}.")
                continue
            self._recover()
            return status

    async def _wait(self, message: str, seconds: float = RETRY_SECONDS) -> None:
        if not self._is_troubled:
            self._on_trouble(message)
        self._is_troubled = True
        await self.clock.sleep(seconds)

    def _recover(self) -> None:
        if self._is_troubled:
            self._on_trouble(None)
        self._is_troubled = False
