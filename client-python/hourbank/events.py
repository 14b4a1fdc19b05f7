from __future__ import annotations

from typing import Any, TypeAlias, TypedDict, Union

from .types import KnownEvent


class UnknownEvent(TypedDict):
    """An event that this version of the SDK does not know. New ones may be added at any time."""

    id: str
    type: str
    timestamp: str
    data: Any


#: ``if event["type"] == "wallet.credited"`` tells type checkers the type of ``event["data"]``.
HourbankEvent: TypeAlias = Union[KnownEvent, UnknownEvent]
