"""Every endpoint, against a real service."""

from __future__ import annotations

import pickle
import time
from datetime import date, datetime, timezone
from decimal import Decimal
from threading import Thread
from typing import Any

import pytest
from conftest import Office, Service
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from hourbank import ApiError, AsyncHourbank, Hourbank, HourbankError


def test_members_are_read_one_by_one_by_page_and_all_in_a_row(client: Hourbank) -> None:
    first = client.users.list(limit=2)
    assert len(first.data) == 2 and first.meta["has_more"] is True
    everybody = list(client.users.iterate())
    assert len(everybody) > 100
    assert [member["id"] for member in first.data] == [member["id"] for member in everybody[:2]]
    assert sum(len(page.data) for page in client.users.pages(limit=50)) == len(everybody)
    ada = everybody[0]
    assert client.users.get(ada["id"]) == ada
    assert client.users.list(payment_reference=ada["payment_reference"]).data == [ada]
    with pytest.raises(ApiError) as caught:
        client.users.get(999_999)
    assert (caught.value.status, caught.value.code) == (404, "user_not_found")
    assert caught.value.request_id


def test_a_misspelt_filter_selects_nobody(client: Hourbank) -> None:
    with pytest.raises(TypeError, match="payment_ref"):
        client.users.list(payment_ref="RF1")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        client.users.get("..")  # type: ignore[arg-type]


def test_changes_and_removals_are_followed_in_rounds(client: Hourbank) -> None:
    changed = client.users.changes()
    assert len(changed.items) > 100
    assert client.users.changes(changed.synced_until).items == []
    assert client.users.changes(datetime.now(timezone.utc)).items == []
    assert client.listings.changes(changed.synced_until).items == []
    assert client.removals.changes().synced_until
    with pytest.raises(ValueError, match="time zone"):
        client.users.changes(datetime.now())


def test_listings_removals_and_totals_are_read(client: Hourbank) -> None:
    listing = client.listings.list(limit=1, type="service").data[0]
    assert listing["type"] == "service"
    assert client.listings.get(listing["id"]) == listing
    assert listing in list(client.listings.iterate(category=listing["category"]))
    assert sum(len(page.data) for page in client.listings.pages(user_id=listing["user_id"])) > 0
    assert list(client.removals.iterate()) == client.removals.list().data
    assert [page.data for page in client.removals.pages(type="user")] == [[]]
    assert "flows" in client.aggregates.community()


def member_of(client: Hourbank) -> int:
    return client.users.list(limit=1).data[0]["id"]


def test_hours_are_credited_once_per_reference(client: Hourbank) -> None:
    credit: dict[str, Any] = {
        "user_id": member_of(client),
        "hours": Decimal("1.15"),
        "reference": "a/b?c=ä&🥖",
        "note": "Hi",
        "settled_on": date(2026, 1, 30),
    }
    first = client.wallet.credit(**credit)
    assert (first["hours"], first["settled_on"], first["replayed"]) == (1.15, "2026-01-30", False)
    assert client.wallet.credit(**credit) == {**first, "replayed": True}
    assert client.wallet.balance(credit["user_id"])["balance_hours"] == first["balance_hours"]
    with pytest.raises(ApiError) as caught:
        client.wallet.credit(**{**credit, "hours": 2})
    stored = caught.value.stored_credit
    assert caught.value.code == "reference_conflict"
    assert stored is not None and stored["hours"] == 1.15
    assert client.wallet.credits(reference=credit["reference"]).data == [stored]


def test_credits_are_listed_with_their_sum_and_reversed_once(client: Hourbank) -> None:
    user_id = member_of(client)
    for hours in (1, 2, 3):
        client.wallet.credit(user_id=user_id, hours=hours, reference=f"tx-{hours}")
    page = client.wallet.credits(limit=1)
    assert (page.meta["total_count"], page.meta["total_hours"]) == (3, 6)
    assert [credit["reference"] for credit in client.wallet.iterate_credits(limit=2)] == ["tx-1", "tx-2", "tx-3"]
    assert len(list(client.wallet.credit_pages(limit=2))) == 2
    reversal = client.wallet.reverse(reference="tx-2", reversal_reference="back-2", reason="Returned")
    assert reversal["credit"]["status"] == "reversed"
    again = client.wallet.reverse(reference="tx-2", reversal_reference="back-2")
    assert (again["replayed"], again["reversed_at"]) == (True, reversal["reversed_at"])
    assert client.wallet.credits(status="reversed").meta["total_hours"] == 2


def test_subscriptions_are_managed(client: Hourbank) -> None:
    subscriptions = client.webhooks.subscriptions
    made = subscriptions.create(event_types=["wallet.*", "future.thing"], target_url="https://partner.example.org/hook")
    assert made["secret"].startswith("whsec_") and made["unknown_event_types"] == ["future.thing"]
    assert subscriptions.get(made["id"])["target_url"] == made["target_url"]
    assert [one["id"] for one in subscriptions.list().data] == [made["id"]]
    assert [one["id"] for one in subscriptions.iterate()] == [made["id"]]
    changed = subscriptions.update(made["id"], status="paused", event_types=["*"])
    assert (changed["status"], changed["unknown_event_types"]) == ("paused", [])
    assert subscriptions.rotate_secret(made["id"])["secret"] != made["secret"]
    event_id = subscriptions.test(made["id"])["event_id"]
    assert subscriptions.replay(made["id"], since=datetime.now(timezone.utc)) == {"deliveries": 0}
    # The service creates the delivery soon after the event.
    give_up = time.monotonic() + 60
    while not (deliveries := list(subscriptions.iterate_deliveries(made["id"]))) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert len(deliveries) == 1 and deliveries == subscriptions.deliveries(made["id"]).data
    for delivery in deliveries:
        assert delivery["event_id"] == event_id
        assert client.webhooks.redeliver(delivery["id"])["id"] == delivery["id"]
    subscriptions.delete(made["id"])
    with pytest.raises(ApiError):
        subscriptions.delete(made["id"])
    assert "user.joined" in [one["name"] for one in client.webhooks.event_types()]


def test_events_are_read_as_a_feed(client: Hourbank) -> None:
    client.wallet.credit(user_id=member_of(client), hours=1, reference="feed-1")
    while not any(_is_credit(event, "feed-1") for event in client.events.iterate()):
        pass
    pages = list(client.events.pages())
    cursor = pages[-1].meta["next_cursor"]
    assert cursor is not None
    assert client.events.list(cursor=cursor, limit=5).meta["limit"] == 5


def _is_credit(event: Any, reference: str) -> bool:
    return event["type"] == "wallet.credited" and event["data"].get("reference") == reference


def test_a_rejection_names_every_field_and_the_needed_scope(credentials: dict[str, Any], client: Hourbank) -> None:
    with pytest.raises(ApiError) as caught:
        client.wallet.credit(user_id=1, hours=-1, reference="")
    assert sorted(error["field"] for error in caught.value.errors) == ["hours", "reference"]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.code) == (str(caught.value), "validation_failed")

    with Hourbank(**credentials, scope=["users.read"]) as reader:
        with pytest.raises(ApiError) as caught:
            reader.wallet.credits()
    assert caught.value.required_scopes == ["wallet.read", "wallet.write"]
    with pytest.raises(ApiError) as caught:
        Hourbank(**{**credentials, "client_secret": "not-the-right-secret"}).users.list()
    assert caught.value.code == "invalid_client" and "not-the-right" not in repr(caught.value)


def test_a_closed_client_rejects_calls_and_has_revoked_its_token(credentials: dict[str, Any]) -> None:
    client = Hourbank(**credentials)
    client.users.list(limit=1)
    client.revoke_token()
    client.users.list(limit=1)
    client.close()
    with pytest.raises(HourbankError) as caught:
        client.users.list()
    assert caught.value.kind == "closed"


KEYS = {
    "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate,
    "PS256": lambda: rsa.generate_private_key(65537, 2048),
}


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_client_with_a_key_needs_no_secret(service: Service, office: Office, algorithm: str) -> None:
    key: Any = KEYS[algorithm]()
    encoding = serialization.Encoding.PEM
    public = key.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    partner = office.add_partner(public_key=public)
    with Hourbank(service.url, partner["client_id"], private_key=private) as client:
        assert client.users.list(limit=1).data
    with pytest.raises(ValueError):
        Hourbank(service.url, partner["client_id"], private_key="not a key")
    with pytest.raises(ValueError):
        Hourbank(service.url, partner["client_id"], "secret", private_key=private)


@pytest.mark.anyio
async def test_the_asynchronous_client_makes_the_same_calls(credentials: dict[str, Any]) -> None:
    async with AsyncHourbank(**credentials) as client:
        members = [member async for member in client.users.iterate(limit=100)]
        assert len(members) > 100
        credit = await client.wallet.credit(user_id=members[0]["id"], hours=0.5, reference="async-1")
        assert credit["replayed"] is False
        with pytest.raises(ApiError) as caught:
            await client.listings.get(999_999)
        assert caught.value.code == "listing_not_found"


def test_a_credit_survives_a_restart_of_the_service(service: Service, client: Hourbank) -> None:
    user_id = member_of(client)
    service.stop()
    answers: list[Any] = []
    waiting = Thread(target=lambda: answers.append(client.wallet.credit(user_id=user_id, hours=1, reference="restart")))
    waiting.start()
    service.start()
    waiting.join()
    assert answers[0]["reference"] == "restart"
    assert client.wallet.credits(reference="restart").meta["total_count"] == 1
