"""The same guarantees as in the tests of the TypeScript SDK, against a service that loses its answers."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from threading import Barrier
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hostile import LOSSES, SHORT_TIMEOUT, Call, FakeTime, HostileService, page

from hourbank import ApiError, Hourbank, HourbankError

CREDIT: dict[str, Any] = {"user_id": 42, "hours": 1.5, "reference": "tx-1"}


class Bookkeeper:
    """Books credits as the service does, once per reference, but loses its answers as told."""

    def __init__(self, *losses: str) -> None:
        self.losses = list(losses)
        self.booked: list[str] = []

    def answer(self, call: Call) -> None:
        reference = json.loads(call.body)["reference"]
        replayed = reference in self.booked
        if not replayed:
            self.booked.append(reference)
        if self.losses:
            LOSSES[self.losses.pop(0)][0](call)
        else:
            call.reply(200 if replayed else 201, {"data": {**CREDIT, "reference": reference, "replayed": replayed}})


def options_for(loss: str) -> dict[str, Any]:
    return {"timeout": SHORT_TIMEOUT} if LOSSES[loss][1].get("kind") == "timeout" else {}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_credit_whose_response_is_lost_is_sent_again_unchanged_and_booked_once(
    hostile: HostileService, loss: str
) -> None:
    books = Bookkeeper(loss)
    client = FakeTime().client(hostile.url)
    hostile.hand_out_token(client)
    hostile.answer = books.answer
    answer = client.wallet.credit(**CREDIT, **options_for(loss))
    assert answer["replayed"] is True
    assert books.booked == ["tx-1"]
    assert len({call.body for call in hostile.asked()}) == 1
    assert hostile.tokens_asked() == 0


@pytest.mark.anyio
@pytest.mark.parametrize("loss", LOSSES)
async def test_the_asynchronous_client_does_the_same(hostile: HostileService, loss: str) -> None:
    books = Bookkeeper(loss)
    hostile.answer = books.answer
    client = FakeTime().async_client(hostile.url)
    assert (await client.wallet.credit(**CREDIT, **options_for(loss)))["replayed"] is True
    assert books.booked == ["tx-1"]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_error_of_the_last_attempt_says_what_happened(hostile: HostileService, loss: str) -> None:
    client = FakeTime().client(hostile.url)
    hostile.hand_out_token(client)
    hostile.answer, told = LOSSES[loss]
    with pytest.raises(HourbankError) as caught:
        client.users.list(retries=2, **options_for(loss))
    assert {name: getattr(caught.value, name) for name in told} == told
    assert len(hostile.wait_for_calls(3)) == 3


@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_call_is_retried_for_two_minutes(hostile: HostileService, operation: str) -> None:
    hostile.answer = Call.reset
    time = FakeTime(random=0.999)
    started = time.seconds
    client = time.client(hostile.url)
    with pytest.raises(HourbankError):
        if operation == "read":
            client.users.list()
        else:
            client.wallet.credit(**CREDIT)
    # Each pause may be twice as long as the one before, up to ten seconds.
    assert [round(pause, 2) for pause in time.pauses] == [0.5, 1.0, 2.0, 4.0, 7.99] + [9.99] * 10
    assert 110 < time.seconds - started < 120


def test_a_call_waits_for_a_token_just_as_long(hostile: HostileService) -> None:
    attempts = iter(range(1000))
    issue = hostile.answer_token
    hostile.answer_token = lambda call: call.reset() if next(attempts) < 8 else issue(call)
    hostile.answer = Bookkeeper().answer
    assert FakeTime().client(hostile.url).wallet.credit(**CREDIT)["replayed"] is False
    assert len(hostile.asked()) == 1


def test_limits_can_be_set_per_call(hostile: HostileService) -> None:
    hostile.answer = Call.reset
    time = FakeTime()
    client = time.client(hostile.url)
    with pytest.raises(HourbankError):
        client.wallet.credit(**CREDIT, retries=0)
    assert time.pauses == []
    with pytest.raises(ValueError):
        client.wallet.credit(**CREDIT, retries=-1)
    with pytest.raises(ValueError):
        client.users.list(timeout=0)


def test_a_trickling_body_ends_with_the_timeout(hostile: HostileService) -> None:
    def trickle(call: Call) -> None:
        call.handler.send_response_only(200)
        call.handler.send_header("content-length", "1000000")
        call.handler.end_headers()
        while not call.handler.server.released.wait(0.005):
            call.handler.wfile.write(b" ")

    hostile.answer = trickle
    with Hourbank(hostile.url, "c", "s", retries=0, timeout=SHORT_TIMEOUT) as client:
        with pytest.raises(HourbankError) as caught:
            client.users.list()
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 410, 413, 415, 422, 500, 501])
def test_rejections_that_stay_rejections_are_not_retried(hostile: HostileService, status: int) -> None:
    hostile.answer = lambda call: call.reject(status, "some_reason")
    time = FakeTime()
    with pytest.raises(ApiError) as caught:
        time.client(hostile.url).wallet.credit(**CREDIT)
    assert (caught.value.status, caught.value.code) == (status, "some_reason")
    assert len(hostile.asked()) == 1 and time.pauses == []


def test_a_switched_off_api_is_reported_at_once(hostile: HostileService) -> None:
    hostile.answer = lambda call: call.reject(503, "partner_api_disabled", retry_after="5")
    with pytest.raises(ApiError):
        FakeTime().client(hostile.url).wallet.credit(**CREDIT)
    assert len(hostile.asked()) == 1


NOT_REPEATABLE: dict[str, Callable[[Hourbank], object]] = {
    "create": lambda client: client.webhooks.subscriptions.create(event_types=["*"], target_url="https://a.example"),
    "test": lambda client: client.webhooks.subscriptions.test(3),
    "rotate": lambda client: client.webhooks.subscriptions.rotate_secret(3),
    "replay": lambda client: client.webhooks.subscriptions.replay(3, since="2026-01-01T00:00:00Z"),
    "redeliver": lambda client: client.webhooks.redeliver(3),
}


@pytest.mark.parametrize("name", NOT_REPEATABLE)
def test_what_must_not_happen_twice_is_not_sent_again(hostile: HostileService, name: str) -> None:
    hostile.answer = Call.reset
    with pytest.raises(HourbankError):
        NOT_REPEATABLE[name](FakeTime().client(hostile.url))
    assert len(hostile.asked()) == 1


@pytest.mark.parametrize("name", NOT_REPEATABLE)
def test_but_it_is_sent_again_if_it_was_rejected_before_it_began(hostile: HostileService, name: str) -> None:
    def answer(call: Call) -> None:
        attempts = len(hostile.asked())
        if attempts == 1:
            call.reject(429, "rate_limited", retry_after="1")
        elif attempts == 2:
            call.reject(401, "invalid_token")
        else:
            call.reply(200, {"data": {"id": 3}})

    hostile.answer = answer
    assert NOT_REPEATABLE[name](FakeTime().client(hostile.url)) is not None
    assert len(hostile.asked()) == 3 and hostile.tokens_asked() == 2


def test_after_a_lost_response_to_a_deletion_not_found_means_deleted(hostile: HostileService) -> None:
    def answer(call: Call) -> None:
        call.reset() if len(hostile.asked()) == 1 else call.reject(404, "subscription_not_found")

    hostile.answer = answer
    client = FakeTime().client(hostile.url)
    client.webhooks.subscriptions.delete(3)
    with pytest.raises(ApiError) as caught:
        client.webhooks.subscriptions.delete(3)
    assert caught.value.code == "subscription_not_found"


SENT = "Wed, 21 Oct 2015 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"retry_after": "30"}, 30.25),
        ({"retry_after": "0"}, 0.25),
        # By the clock of the sender, which is years behind ours here.
        ({"date": SENT, "retry_after": "Wed, 21 Oct 2015 07:28:20 GMT"}, 20.25),
        ({"date": SENT, "retry_after": "Wed, 21 Oct 2015 07:00:00 GMT"}, 0.25),
        *[({"retry_after": text}, 0.25) for text in ("", "-5", "1e3", "soon", "0x10", "2026-01-31", "Wed, 99 Foo 2015")],
    ],
)
def test_retry_after_is_respected(hostile: HostileService, headers: dict[str, str], pause: float) -> None:
    def answer(call: Call) -> None:
        call.reject(429, "rate_limited", **headers) if len(hostile.asked()) == 1 else call.reply(200, page())

    hostile.answer = answer
    time = FakeTime()
    time.client(hostile.url).users.list()
    assert time.pauses == [pause]


def test_a_longer_wait_than_the_call_may_take_is_reported_at_once(hostile: HostileService) -> None:
    hostile.answer = lambda call: call.reject(429, "rate_limited", retry_after="120")
    time = FakeTime()
    with pytest.raises(ApiError) as caught:
        time.client(hostile.url).wallet.credit(**CREDIT)
    assert caught.value.retry_after == 120 and time.pauses == []


def test_a_hundred_threads_share_one_token_request(hostile: HostileService) -> None:
    client = FakeTime().client(hostile.url)
    together = Barrier(20)

    def call(_number: int) -> object:
        together.wait()
        return client.users.list()

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(call, range(100)))
    assert hostile.tokens_asked() == 1
    assert len(hostile.asked()) == 100


def test_a_token_is_renewed_before_it_expires_and_when_it_is_rejected(hostile: HostileService) -> None:
    time = FakeTime()
    client = time.client(hostile.url)
    client.users.list()
    time.seconds += 3600 - 121
    client.users.list()
    assert hostile.tokens_asked() == 1
    time.seconds += 2
    client.users.list()
    assert [call.token for call in hostile.asked()] == ["the-token-1", "the-token-1", "the-token-2"]

    hostile.answer = lambda call: call.reject(401, "invalid_token")
    with pytest.raises(ApiError):
        client.users.list()
    assert [call.token for call in hostile.asked()][3:] == ["the-token-2", "the-token-3"]


def test_while_the_renewal_fails_the_old_token_is_used(hostile: HostileService) -> None:
    time = FakeTime()
    client = time.client(hostile.url)
    client.users.list()
    hostile.answer_token = Call.reset
    time.seconds += 3600 - 100
    client.users.list()
    assert hostile.asked()[-1].token == "the-token-1"


def test_no_error_contains_the_secret_or_the_token(hostile: HostileService) -> None:
    def echo(call: Call) -> None:
        said = f"{call.body.decode()} {call.token}"
        call.reply(400, {"error": "invalid_request", "error_description": said, "request_id": "r"})

    hostile.answer = echo
    client = FakeTime().client(hostile.url)
    with pytest.raises(ApiError) as caught:
        client.wallet.credit(**CREDIT)
    assert "the-token-1" not in str(caught.value) and "[redacted]" in str(caught.value)
    hostile.answer_token = echo
    with pytest.raises(ApiError) as caught:
        FakeTime().client(hostile.url).users.list()
    assert "the-secret" not in f"{caught.value} {caught.value.description} {vars(caught.value)}"


def test_redirects_are_not_followed(hostile: HostileService) -> None:
    hostile.answer = lambda call: call.reply_raw(307, b"", location="https://elsewhere.example/")
    with pytest.raises(ApiError) as caught:
        FakeTime().client(hostile.url).wallet.credit(**CREDIT)
    assert caught.value.code == "http_307"


def test_a_list_that_never_ends_is_noticed(hostile: HostileService) -> None:
    hostile.answer = lambda call: call.reply(200, page([{"id": 1}], "same"))
    with pytest.raises(HourbankError) as caught:
        list(FakeTime().client(hostile.url).users.iterate())
    assert caught.value.kind == "invalid_response"
    assert len(hostile.asked()) == 2


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": math.nan}, {"timeout": math.inf}, {"total_timeout": math.inf}, {"retries": -1}]
)
def test_limits_that_are_none_are_rejected(hostile: HostileService, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        FakeTime().client(hostile.url, **options)
    with pytest.raises(ValueError):
        FakeTime().client(hostile.url).users.list(**options)
