from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Optional, Union, cast

from typing_extensions import Unpack

from .._paging import DeliveriesArguments, Page, PageArguments
from .._request import TOTAL_TIMEOUT_DEFAULT, CallOptions, Operation, encode_body, id_text
from .._response import require_data
from .._subscriptions import ChangedSubscription, CreatedSubscription, with_unknown_types
from ..events import HourbankEvent
from ..types import Delivery, EventType, PageMeta, ReplayStarted, Subscription, SubscriptionWithSecret, TestSent
from .lists import ItemList
from .transport import Transport

SUBSCRIPTIONS = "/webhooks/subscriptions"


class Webhooks:
    """Subscriptions and their deliveries. Scope ``webhooks.manage``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.subscriptions = Subscriptions(transport)

    async def redeliver(self, delivery_id: int, **options: Unpack[CallOptions]) -> Delivery:
        """Sends one delivery again, from the start of the schedule. Not repeated when its response is lost."""
        operation = Operation("POST", f"/webhooks/deliveries/{id_text(delivery_id)}/redeliver", repeatable=False)
        return cast(Delivery, require_data(operation.name, await self._transport.send(operation, options)))

    async def event_types(self, **options: Unpack[CallOptions]) -> list[EventType]:
        """The catalogue of events, with JSON Schemas and examples."""
        operation = Operation("GET", "/webhooks/event-types")
        return cast("list[EventType]", require_data(operation.name, await self._transport.send(operation, options)))


class Subscriptions:
    """Which events go where."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._list: ItemList[Subscription, PageMeta] = ItemList(transport, SUBSCRIPTIONS, PageArguments)

    async def list(self, **arguments: Unpack[PageArguments]) -> Page[Subscription, PageMeta]:
        """Reads one page of your subscriptions."""
        return await self._list.page(arguments)

    def iterate(self, **arguments: Unpack[PageArguments]) -> AsyncIterator[Subscription]:
        """Reads subscription after subscription."""
        return self._list.items(arguments)

    async def create(
        self, *, event_types: Sequence[str], target_url: str, **options: Unpack[CallOptions]
    ) -> CreatedSubscription:
        """Subscribes to events. The ``secret`` is shown only here.

        Not repeated when its response is lost, since there would be two then: look for it with ``list``, and delete
        it, before you try again.
        """
        body = encode_body({"event_types": [*event_types], "target_url": target_url})
        operation = Operation("POST", SUBSCRIPTIONS, body=body, repeatable=False)
        return cast(CreatedSubscription, with_unknown_types(operation.name, await self._send(operation, options)))

    async def get(self, subscription_id: int, **options: Unpack[CallOptions]) -> Subscription:
        """Fetches one subscription."""
        operation = Operation("GET", _path(subscription_id))
        return cast(Subscription, require_data(operation.name, await self._send(operation, options)))

    async def update(
        self,
        subscription_id: int,
        *,
        event_types: Optional[Sequence[str]] = None,
        target_url: Optional[str] = None,
        status: Optional[Literal["active", "paused"]] = None,
        **options: Unpack[CallOptions],
    ) -> ChangedSubscription:
        """Changes, pauses or resumes a subscription."""
        types = None if event_types is None else [*event_types]
        body = encode_body({"event_types": types, "target_url": target_url, "status": status})
        operation = Operation("PATCH", _path(subscription_id), body=body)
        return cast(ChangedSubscription, with_unknown_types(operation.name, await self._send(operation, options)))

    async def delete(self, subscription_id: int, **options: Unpack[CallOptions]) -> None:
        """Deletes a subscription and its deliveries."""
        await self._send(Operation("DELETE", _path(subscription_id), ends_in_not_found=True), options)

    async def test(self, subscription_id: int, **options: Unpack[CallOptions]) -> TestSent:
        """Sends a ``webhook.test`` event to this subscription alone. Not repeated when its response is lost."""
        operation = Operation("POST", f"{_path(subscription_id)}/test", repeatable=False)
        return cast(TestSent, require_data(operation.name, await self._send(operation, options)))

    async def rotate_secret(self, subscription_id: int, **options: Unpack[CallOptions]) -> SubscriptionWithSecret:
        """Gives the subscription a new secret; the old one signs along for 24 hours.

        Not repeated when its response is lost: call it again then, since nobody will see the secret that was made; but
        a second rotation ends the first secret.
        """
        operation = Operation("POST", f"{_path(subscription_id)}/rotate-secret", repeatable=False)
        return cast(SubscriptionWithSecret, require_data(operation.name, await self._send(operation, options)))

    async def replay(
        self, subscription_id: int, *, since: Union[str, datetime], **options: Unpack[CallOptions]
    ) -> ReplayStarted:
        """Delivers all events since a time again. Not repeated when its response is lost."""
        body = encode_body({"since": since})
        operation = Operation("POST", f"{_path(subscription_id)}/replay", body=body, repeatable=False)
        # Queueing many events takes longer than other calls.
        options.setdefault("timeout", TOTAL_TIMEOUT_DEFAULT)
        return cast(ReplayStarted, require_data(operation.name, await self._send(operation, options)))

    async def deliveries(
        self, subscription_id: int, **arguments: Unpack[DeliveriesArguments]
    ) -> Page[Delivery, PageMeta]:
        """Reads one page of the deliveries, with every attempt."""
        return await self._deliveries_of(subscription_id).page(arguments)

    def iterate_deliveries(
        self, subscription_id: int, **arguments: Unpack[DeliveriesArguments]
    ) -> AsyncIterator[Delivery]:
        """Reads delivery after delivery."""
        return self._deliveries_of(subscription_id).items(arguments)

    def _deliveries_of(self, subscription_id: int) -> ItemList[Delivery, PageMeta]:
        return ItemList(self._transport, f"{_path(subscription_id)}/deliveries", DeliveriesArguments)

    async def _send(self, operation: Operation, options: CallOptions) -> Mapping[str, Any]:
        return await self._transport.send(operation, options)


class Events:
    """The events of the last 30 days as a feed, if you prefer polling. Scope ``webhooks.manage``."""

    def __init__(self, transport: Transport) -> None:
        self._list: ItemList[HourbankEvent, PageMeta] = ItemList(transport, "/events", PageArguments)

    async def list(self, **arguments: Unpack[PageArguments]) -> Page[HourbankEvent, PageMeta]:
        """Reads one page of events, the oldest first."""
        return await self._list.page(arguments)

    def pages(self, **arguments: Unpack[PageArguments]) -> AsyncIterator[Page[HourbankEvent, PageMeta]]:
        """Reads page after page, up to now. Save ``meta["next_cursor"]`` of each page, and continue from there."""
        return self._list.pages(arguments)

    def iterate(self, **arguments: Unpack[PageArguments]) -> AsyncIterator[HourbankEvent]:
        """Reads event after event, up to now."""
        return self._list.items(arguments)


def _path(subscription_id: int) -> str:
    return f"{SUBSCRIPTIONS}/{id_text(subscription_id)}"
