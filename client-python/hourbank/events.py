from __future__ import annotations

from typing import TypeAlias

from .types import KnownEvent

#: ``if event["type"] == "wallet.credited"`` tells type checkers the type of ``event["data"]``. An event that this version
#: of the SDK does not know yet can arrive at any time, so have an ``else``.
HourbankEvent: TypeAlias = KnownEvent
