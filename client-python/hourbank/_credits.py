"""Batches of credits: what goes into one, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Optional, TypedDict, Union

from typing_extensions import NotRequired

from ._request import encode_body
from .errors import ApiError, HourbankError
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

    #: Empty if the credit has none.
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


class EncodedCredit:
    """Serialized when it is taken from the iterable: later changes of the object do not matter."""

    def __init__(self, credit: Mapping[str, object]) -> None:
        self.reference = str(credit.get("reference", ""))
        self.body = b""
        self.result: Optional[CreditResult] = None
        try:
            self.body = encode_body(credit)
        except ValueError as error:
            # Such as NaN hours, which JSON cannot express.
            self.reject(str(error))

    def reject(self, problem: str) -> None:
        self.result = {
            "reference": self.reference,
            "result": "validation_failed",
            "error_description": problem,
        }


class Batch:
    """Collects credits until the service would accept no more in one request."""

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        self._credits: list[EncodedCredit] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._credits)

    def fits(self, credit: EncodedCredit) -> bool:
        return len(self) < self._size_max and self._bytes + len(credit.body) < BATCH_BYTES_MAX

    def add(self, credit: EncodedCredit) -> None:
        self._credits.append(credit)
        self._bytes += len(credit.body) + 1

    def pending(self) -> list[EncodedCredit]:
        """Those without a result."""
        return [credit for credit in self._credits if credit.result is None]

    def results(self) -> list[CreditResult]:
        return [credit.result for credit in self._credits if credit.result is not None]


def encode_batch(credits: Sequence[EncodedCredit]) -> bytes:
    return b'{"credits":[' + b",".join(credit.body for credit in credits) + b"]}"


def reject_malformed(credits: Sequence[EncodedCredit], error: ApiError) -> bool:
    """Tells whether the batch was rejected because of some of its credits, and rejects these."""
    problems: dict[int, list[str]] = {}
    for one in error.errors if error.code == "validation_failed" else []:
        found = re.fullmatch(r"credits\.([0-9]+)(?:\.(.+))?", one["field"])
        if found and int(found[1]) < len(credits):
            problems.setdefault(int(found[1]), []).append(f"{found[2] or 'the credit'} {one['message']}")
    for position, texts in problems.items():
        credits[position].reject("; ".join(texts))
    return len(problems) > 0


def read_results(name: str, data: Any, count: int) -> list[CreditResult]:
    """One result for each credit, or the response is not believed."""
    if isinstance(data, list) and len(data) == count:
        if all(isinstance(item, dict) and isinstance(item.get("result"), str) for item in data):
            return data
    raise HourbankError(f"{name}: the response does not have a result for each credit", "invalid_response")
