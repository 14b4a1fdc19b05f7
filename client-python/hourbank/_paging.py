from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar

from ._request import CALL_OPTIONS, CallOptions
from .errors import HourbankError
from .types import (
    ListCreditsQuery,
    ListDeliveriesQuery,
    ListEventsQuery,
    ListListingsQuery,
    ListRemovalsQuery,
    ListUsersQuery,
    PageMeta,
)

#: The largest page, so that reading everything takes the fewest calls.
LIMIT_MAX = 100
EVER = "1970-01-01T00:00:00Z"

Item = TypeVar("Item")
Meta = TypeVar("Meta", bound=Mapping[str, Any])


@dataclass(frozen=True)
class Page(Generic[Item, Meta]):
    data: list[Item]
    meta: Meta


@dataclass(frozen=True)
class Changes(Generic[Item]):
    """Everything that changed since a time."""

    items: list[Item]
    #: Save it: the ``since`` of the next round.
    synced_until: str


# Filters and options of a list call, as keyword arguments.
class MembersArguments(ListUsersQuery, CallOptions, total=False): ...


class ListingsArguments(ListListingsQuery, CallOptions, total=False): ...


class RemovalsArguments(ListRemovalsQuery, CallOptions, total=False): ...


class CreditsArguments(ListCreditsQuery, CallOptions, total=False): ...


class DeliveriesArguments(ListDeliveriesQuery, CallOptions, total=False): ...


class PageArguments(ListEventsQuery, CallOptions, total=False): ...


def split_arguments(
    arguments: Mapping[str, object], allowed: type
) -> tuple[dict[str, object], CallOptions]:
    """Separates filters from options. An unknown name is an error: a misspelt filter would select everybody."""
    unknown = set(arguments) - set(allowed.__annotations__)
    if unknown:
        raise TypeError(f"unexpected keyword argument {', '.join(sorted(unknown))}")
    query = {name: value for name, value in arguments.items() if name not in CALL_OPTIONS}
    options: Any = {name: value for name, value in arguments.items() if name in CALL_OPTIONS}
    return query, options


def read_page(name: str, body: Mapping[str, Any]) -> Page[Any, Any]:
    data, meta = body.get("data"), body.get("meta")
    if isinstance(data, list) and isinstance(meta, dict) and isinstance(meta.get("has_more"), bool):
        if meta.get("next_cursor") is None or isinstance(meta["next_cursor"], str):
            return Page(data, meta)
    raise HourbankError(f"{name}: the response is not a page", "invalid_response")


def next_cursor(name: str, meta: Mapping[str, Any], cursor: object) -> Optional[str]:
    """Returns the cursor of the next page, or None after the last one."""
    if not meta["has_more"]:
        return None
    following = meta["next_cursor"]
    # Otherwise the same page would be read forever.
    if not isinstance(following, str) or following == cursor:
        raise HourbankError(f"{name}: there is more, but the response does not say where", "invalid_response")
    return following


def changes_of(pages: list[Page[Item, PageMeta]]) -> Changes[Item]:
    synced_until = pages[-1].meta.get("synced_until") if pages else None
    if synced_until is None:
        raise HourbankError("The response does not say where the next round begins", "invalid_response")
    return Changes([item for page in pages for item in page.data], synced_until)
