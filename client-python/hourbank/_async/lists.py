from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Generic, cast

from .._paging import EVER, LIMIT_MAX, Changes, Item, Meta, Page, changes_of, next_cursor, read_page, split_arguments
from .._request import CallOptions, Operation
from ..types import PageMeta
from .transport import Transport


class ItemList(Generic[Item, Meta]):
    """The ways to read a list: one page, page after page, item after item."""

    def __init__(self, transport: Transport, path: str, arguments: type) -> None:
        self._transport = transport
        self._path = path
        self._arguments = arguments

    async def page(self, arguments: Mapping[str, object]) -> Page[Item, Meta]:
        query, options = split_arguments(arguments, self._arguments)
        return await self._read(query, options)

    async def pages(self, arguments: Mapping[str, object]) -> AsyncIterator[Page[Item, Meta]]:
        query, options = split_arguments(arguments, self._arguments)
        query = {"limit": LIMIT_MAX} | query
        while True:
            page = await self._read(query, options)
            yield page
            cursor = next_cursor(f"GET {self._path}", page.meta, query.get("cursor"))
            if cursor is None:
                return
            query = query | {"cursor": cursor}

    async def items(self, arguments: Mapping[str, object]) -> AsyncIterator[Item]:
        async for page in self.pages(arguments):
            for item in page.data:
                yield item

    async def changes(self, parameter: str, since: object, options: CallOptions) -> Changes[Item]:
        """All items that changed since a time, and where the next round begins."""
        arguments = {parameter: EVER if since is None else since, **options}
        pages = [page async for page in self.pages(arguments)]
        return changes_of(cast("list[Page[Item, PageMeta]]", pages))

    async def _read(self, query: Mapping[str, object], options: CallOptions) -> Page[Any, Any]:
        operation = Operation("GET", self._path, query=query)
        return read_page(operation.name, await self._transport.send(operation, options))
