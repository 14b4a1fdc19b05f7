"""Batches of credits: what goes into one, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, TypedDict, Union

from typing_extensions import NotRequired

from ._request import encode_body
from .errors import HourbankError
from .types import CreditAnswer

BATCH_CREDITS_MAX = 1_000
#: Below the limit of the service for the body of a batch, 512 KiB.
BATCH_BYTES_MAX = 480 * 1024

Hours = Union[float, Decimal]
Day = Union[str, date]


class NewCredit(TypedDict):
    user_id: int
    #: More than 0, with up to two decimals.
    hours: Hours
    #: Identifies the bank transfer; applied once, however often it is sent.
    reference: str
    note: NotRequired[str]
    settled_on: NotRequired[Day]


class CreditResult(TypedDict):
    """What came of one credit: ``created``, ``replayed``, or the code of the error."""

    reference: str
    result: str
    #: With ``created`` and ``replayed``.
    credit: NotRequired[CreditAnswer]
    #: With an error, for people.
    error_description: NotRequired[str]
    #: With an error: what a conflict is with.
    data: NotRequired[dict[str, Any]]


@dataclass
class CreditSummary:
    """Counts of all batches so far, and every credit that was not made."""

    created: int = 0
    replayed: int = 0
    rejected: list[CreditResult] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.created + self.replayed + len(self.rejected)

    def add(self, results: Sequence[CreditResult]) -> None:
        for result in results:
            if result["result"] == "created":
                self.created += 1
            elif result["result"] == "replayed":
                self.replayed += 1
            else:
                self.rejected.append(result)


class Batch:
    """Collects credits until the service would accept no more in one request."""

    def __init__(self) -> None:
        self._items: list[bytes] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._items)

    def fits(self, item: bytes) -> bool:
        return len(self._items) < BATCH_CREDITS_MAX and self._bytes + len(item) < BATCH_BYTES_MAX

    def add(self, item: bytes) -> None:
        self._items.append(item)
        self._bytes += len(item) + 1

    def body(self) -> bytes:
        return b'{"credits":[' + b",".join(self._items) + b"]}"


def encode_credit(credit: Mapping[str, object]) -> bytes:
    """Serialized when it is taken from the iterable: later changes of the object do not matter."""
    return encode_body(credit)


def read_results(name: str, data: Any, count: int) -> list[CreditResult]:
    """One result for each credit, or the response is not believed."""
    if isinstance(data, list) and len(data) == count:
        if all(isinstance(item, dict) and isinstance(item.get("result"), str) for item in data):
            return data
    raise HourbankError(f"{name}: the response does not have a result for each credit", "invalid_response")
