from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile import LOSSES, SHORT_TIMEOUT, Call, FakeTime, HostileService

from hourbank import CreditSummary, Hourbank, HourbankError, NewCredit

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
        results = [self._book(credit) for credit in credits]
        if self.losses:
            LOSSES[self.losses.pop(0)][0](call)
        else:
            counted = [result["result"] for result in results]
            meta = {"created": counted.count("created"), "replayed": counted.count("replayed")}
            call.reply(200, {"data": results, "meta": meta})

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
    again = client.wallet.credit_all([*items, {"user_id": 999_999, "hours": 1, "reference": "nobody"}])  # type: ignore[list-item]
    assert (first.created, again.replayed) == (1500, 1500)
    assert [result["result"] for result in again.rejected] == ["user_not_found"]
    assert client.wallet.credits(limit=1).meta["total_hours"] == 15
