from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hostile import LOSSES, SHORT_TIMEOUT, Call, FakeTime, HostileService

from hourbank import ApiError, CreditSummary, Hourbank, HourbankError, NewCredit

OPENAPI = json.loads((Path(__file__).parents[2] / "openapi.json").read_text())
HAS_BATCHES = "/api/partner/v1/wallet/credits/batch" in OPENAPI["paths"]


class BatchBooks:
    """Books batches as the contract says, but loses the given answers."""

    def __init__(self, *losses: str) -> None:
        self.losses = list(losses)
        self.booked: dict[str, Any] = {}
        self.sizes: list[int] = []

    def answer(self, call: Call) -> None:
        assert (call.method, call.path) == ("POST", "/wallet/credits/batch")
        credits = json.loads(call.body)["credits"]
        assert 1 <= len(credits) <= 1000 and len(call.body) < 512 * 1024
        self.sizes.append(len(credits))
        errors = [problem for number, credit in enumerate(credits) for problem in self._problems(number, credit)]
        if errors:
            # The service lists up to 100.
            rejection = {"error": "validation_failed", "error_description": "No.", "errors": errors[:100]}
            return call.reply(422, {**rejection, "request_id": "r-1"})
        results = [self._book(credit) for credit in credits]
        if self.losses:
            LOSSES[self.losses.pop(0)][0](call)
        else:
            counted = [result["result"] for result in results]
            meta = {"created": counted.count("created"), "replayed": counted.count("replayed")}
            call.reply(200, {"data": results, "meta": meta})

    def _problems(self, number: int, credit: dict[str, Any]) -> list[dict[str, str]]:
        found = {
            "hours must be greater than 0": not credit["hours"] > 0,
            "reference is missing": "reference" not in credit,
            "note must be a text": "\ud800" in credit.get("note", ""),
        }
        names = [text.partition(" ") for text, is_wrong in found.items() if is_wrong]
        return [
            {"code": "invalid", "field": f"credits.{number}.{name}", "message": message} for name, _, message in names
        ]

    def _book(self, credit: dict[str, Any]) -> dict[str, Any]:
        reference = credit["reference"]
        if credit["user_id"] == 0:
            return {"reference": reference, "result": "user_not_found", "error_description": "No such member."}
        stored = self.booked.setdefault(reference, credit)
        result = "created" if stored is credit else "replayed" if stored == credit else "reference_conflict"
        return {"reference": reference, "result": result, "credit": stored}


def credits(count: int, note: str = "") -> Iterator[NewCredit]:
    for number in range(count):
        yield {"user_id": 1, "hours": 1.5, "reference": f"tx-{number}", **({"note": note} if note else {})}  # type: ignore[typeddict-item]


def test_credits_are_sent_in_batches_with_progress(hostile: HostileService) -> None:
    books = BatchBooks()
    hostile.answer = books.answer
    seen: list[int] = []
    summary = FakeTime().client(hostile.url).wallet.credit_all(credits(2500), on_progress=lambda it: seen.append(it.total))
    assert (summary.created, summary.replayed, summary.rejected) == (2500, 0, [])
    assert books.sizes == [1000, 1000, 500] and seen == [1000, 2000, 2500]


def test_large_credits_make_smaller_batches(hostile: HostileService) -> None:
    books = BatchBooks()
    hostile.answer = books.answer
    assert FakeTime().client(hostile.url).wallet.credit_all(credits(1000, "🥖" * 500)).created == 1000
    assert max(books.sizes) < 1000 and sum(books.sizes) == 1000


def test_nothing_is_sent_for_no_credits(hostile: HostileService) -> None:
    assert FakeTime().client(hostile.url).wallet.credit_all([]) == CreditSummary()
    assert hostile.calls == []


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_batch_is_sent_again_and_booked_once(hostile: HostileService, loss: str) -> None:
    books = BatchBooks(loss)
    hostile.answer = books.answer
    options: Any = {"timeout": SHORT_TIMEOUT} if loss == "there is no response" else {}
    summary = FakeTime().client(hostile.url).wallet.credit_all(credits(3), **options)
    assert summary.total == 3 and summary.rejected == [] and len(books.booked) == 3


def test_a_rejected_credit_does_not_stop_the_others(hostile: HostileService) -> None:
    hostile.answer = BatchBooks().answer
    items: list[NewCredit] = [
        {"user_id": 1, "hours": 1, "reference": "a"},
        {"user_id": 0, "hours": 1, "reference": "b"},
        {"user_id": 1, "hours": 2, "reference": "a"},
        {"user_id": 1, "hours": 1, "reference": "a"},
    ]
    summary = FakeTime().client(hostile.url).wallet.credit_all(items)
    assert (summary.created, summary.replayed) == (1, 1)
    assert [result["result"] for result in summary.rejected] == ["user_not_found", "reference_conflict"]


def test_malformed_credits_are_rejected_and_the_others_made(hostile: HostileService) -> None:
    books = BatchBooks()
    hostile.answer = books.answer
    items = [{**credit, "hours": 0} if number % 2 else credit for number, credit in enumerate(credits(3000))]
    summary = FakeTime().client(hostile.url).wallet.credit_all(items)  # type: ignore[arg-type]
    assert (summary.created, summary.total) == (1500, 3000) and len(books.booked) == 1500
    references = [result["reference"] for result in summary.rejected]
    assert references == [f"tx-{number}" for number in range(1, 3000, 2)]
    assert summary.rejected[0] == {
        "reference": "tx-1",
        "result": "validation_failed",
        "error_description": "hours must be greater than 0",
    }


def test_credits_that_json_cannot_express_are_rejected_and_the_others_made(hostile: HostileService) -> None:
    books = BatchBooks()
    hostile.answer = books.answer
    items: list[Any] = [
        {"user_id": 1, "hours": float("nan"), "reference": "a"},
        {"user_id": 1, "hours": 1, "reference": "b"},
        {"user_id": 1, "hours": 0},
        {"user_id": 1, "hours": 1, "reference": "c", "note": "\ud800"},
        {"user_id": 1, "hours": Decimal("Infinity"), "reference": "d"},
    ]
    summary = FakeTime().client(hostile.url).wallet.credit_all(items)
    assert summary.created == 1 and set(books.booked) == {"b"}
    assert [(result["reference"], result["result"]) for result in summary.rejected] == [
        (reference, "validation_failed") for reference in ("a", "", "c", "d")
    ]
    assert summary.rejected[1].get("error_description") == "hours must be greater than 0; reference is missing"
    assert FakeTime().client(hostile.url).wallet.credit_all(items[:1]).total == 1 and len(hostile.asked()) == 2


def test_a_rejection_that_names_no_credit_is_raised(hostile: HostileService) -> None:
    hostile.answer = lambda call: call.reject(422, "validation_failed")
    with pytest.raises(ApiError):
        FakeTime().client(hostile.url).wallet.credit_all(credits(2))


def test_the_size_of_batches_can_be_smaller(hostile: HostileService) -> None:
    books = BatchBooks()
    hostile.answer = books.answer
    wallet = FakeTime().client(hostile.url).wallet
    assert wallet.credit_all(credits(25), batch_size=10).created == 25 and books.sizes == [10, 10, 5]
    for size in (0, 1001, 1.5):
        with pytest.raises(ValueError):
            wallet.credit_all([], batch_size=size)  # type: ignore[arg-type]


def test_a_response_without_a_result_for_each_credit_is_not_believed(hostile: HostileService) -> None:
    hostile.answer = lambda call: call.reply(200, {"data": [], "meta": {}})
    with pytest.raises(HourbankError) as caught:
        FakeTime().client(hostile.url).wallet.credit_all(credits(2))
    assert caught.value.kind == "invalid_response"


@pytest.mark.anyio
async def test_the_asynchronous_client_takes_asynchronous_iterables(hostile: HostileService) -> None:
    async def later() -> AsyncIterator[NewCredit]:
        for credit in credits(1001):
            yield credit

    books = BatchBooks()
    hostile.answer = books.answer
    summary = await FakeTime().async_client(hostile.url).wallet.credit_all(later())
    assert summary.created == 1001 and books.sizes == [1000, 1]


@pytest.mark.skipif(not HAS_BATCHES, reason="the service has no batches yet")
def test_the_service_books_a_batch(client: Hourbank) -> None:
    user_id = client.users.list(limit=1).data[0]["id"]
    items = [{**credit, "user_id": user_id, "hours": 0.01} for credit in credits(1500)]
    first = client.wallet.credit_all(items)  # type: ignore[arg-type]
    bad: list[Any] = [
        {"user_id": 999_999, "hours": 1, "reference": "nobody"},
        {"user_id": user_id, "hours": 0, "reference": "nothing"},
        {"user_id": user_id, "hours": 1, "reference": "a surrogate", "note": "\ud800"},
        {"user_id": user_id, "hours": 1},
    ]
    again = client.wallet.credit_all([*items, *bad])  # type: ignore[list-item]
    assert (first.created, again.replayed) == (1500, 1500)
    assert [result["result"] for result in again.rejected] == ["user_not_found", *["validation_failed"] * 3]
    assert client.wallet.credits(limit=1).meta["total_hours"] == 15
