# Made from _async by `npm run python:sync`; not to be edited.
"""What a community shows: members, listings, removals and totals."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Optional, Union, cast

from typing_extensions import Unpack

from .._paging import Changes, ListingsArguments, MembersArguments, Page, RemovalsArguments
from .._request import CallOptions, Operation, id_text
from .._response import require_data
from ..types import CommunityAggregates, Listing, Member, PageMeta, Removal
from .lists import ItemList
from .transport import Transport

Time = Union[str, datetime]


class Users:
    """Members. Scope ``users.read``; ``email`` only with ``users.pii``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._list: ItemList[Member, PageMeta] = ItemList(transport, "/users", MembersArguments)

    def list(self, **arguments: Unpack[MembersArguments]) -> Page[Member, PageMeta]:
        """Reads one page of active members."""
        return self._list.page(arguments)

    def pages(self, **arguments: Unpack[MembersArguments]) -> Iterator[Page[Member, PageMeta]]:
        """Reads page after page."""
        return self._list.pages(arguments)

    def iterate(self, **arguments: Unpack[MembersArguments]) -> Iterator[Member]:
        """Reads member after member."""
        return self._list.items(arguments)

    def changes(self, since: Optional[Time] = None, **options: Unpack[CallOptions]) -> Changes[Member]:
        """All members that changed since a time, and where the next round begins. For very many, use ``pages``."""
        return self._list.changes("updated_since", since, options)

    def get(self, user_id: int, **options: Unpack[CallOptions]) -> Member:
        """Fetches one member."""
        operation = Operation("GET", f"/users/{id_text(user_id)}")
        return cast(Member, require_data(operation.name, self._transport.send(operation, options)))


class Listings:
    """Services and requests. Scope ``listings.read``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._list: ItemList[Listing, PageMeta] = ItemList(transport, "/listings", ListingsArguments)

    def list(self, **arguments: Unpack[ListingsArguments]) -> Page[Listing, PageMeta]:
        """Reads one page of active listings."""
        return self._list.page(arguments)

    def pages(self, **arguments: Unpack[ListingsArguments]) -> Iterator[Page[Listing, PageMeta]]:
        """Reads page after page."""
        return self._list.pages(arguments)

    def iterate(self, **arguments: Unpack[ListingsArguments]) -> Iterator[Listing]:
        """Reads listing after listing."""
        return self._list.items(arguments)

    def changes(self, since: Optional[Time] = None, **options: Unpack[CallOptions]) -> Changes[Listing]:
        """All listings that changed since a time, and where the next round begins. For very many, use ``pages``."""
        return self._list.changes("updated_since", since, options)

    def get(self, listing_id: int, **options: Unpack[CallOptions]) -> Listing:
        """Fetches one listing."""
        operation = Operation("GET", f"/listings/{id_text(listing_id)}")
        return cast(Listing, require_data(operation.name, self._transport.send(operation, options)))


class Removals:
    """Members and listings that can no longer be seen. Scope ``users.read`` or ``listings.read``, by type."""

    def __init__(self, transport: Transport) -> None:
        self._list: ItemList[Removal, PageMeta] = ItemList(transport, "/removals", RemovalsArguments)

    def list(self, **arguments: Unpack[RemovalsArguments]) -> Page[Removal, PageMeta]:
        """Reads one page of removals."""
        return self._list.page(arguments)

    def pages(self, **arguments: Unpack[RemovalsArguments]) -> Iterator[Page[Removal, PageMeta]]:
        """Reads page after page."""
        return self._list.pages(arguments)

    def iterate(self, **arguments: Unpack[RemovalsArguments]) -> Iterator[Removal]:
        """Reads removal after removal."""
        return self._list.items(arguments)

    def changes(self, since: Optional[Time] = None, **options: Unpack[CallOptions]) -> Changes[Removal]:
        """All removals since a time, and where the next round begins."""
        return self._list.changes("since", since, options)


class Aggregates:
    """Community totals without personal data. Scope ``aggregates.read``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def community(self, **options: Unpack[CallOptions]) -> CommunityAggregates:
        """Reads the figures of closed months; they change only when a month is closed."""
        operation = Operation("GET", "/aggregates/community")
        return cast(CommunityAggregates, require_data(operation.name, self._transport.send(operation, options)))
