from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from hourbank import WebhookVerificationError, sign_webhook, verify_webhook

NOW = 1_769_850_000
SECRET = "whsec_" + base64.b64encode(b"k" * 32).decode()
OTHER = "whsec_" + base64.b64encode(b"o" * 32).decode()
BODY = json.dumps({"type": "user.left", "timestamp": "2026-01-31T09:00:00Z", "data": {"id": 42, "version": 3}}).encode()


def verify(body: Any = BODY, secrets: Any = SECRET, now: float = NOW, **changes: Any) -> Any:
    headers: dict[str, Any] = {**sign_webhook("evt_1", BODY, SECRET, NOW), **changes}
    return verify_webhook(body, headers, secrets, now=lambda: now)


def test_a_genuine_delivery_is_accepted() -> None:
    event = verify()
    assert event == {"id": "evt_1", "type": "user.left", "timestamp": "2026-01-31T09:00:00Z", "data": {"id": 42, "version": 3}}
    assert verify(BODY.decode()) == verify(memoryview(BODY)) == event
    assert verify(secrets=[OTHER, SECRET]) == verify(secrets=SECRET.removeprefix("whsec_")) == event
    assert verify(now=NOW + 300) == verify(now=NOW - 300) == event


def test_the_signature_is_the_one_of_the_specification() -> None:
    # The example of the Standard Webhooks specification and its libraries.
    headers = sign_webhook("msg_p5jXN8AQM9LWM0D4loKWxJek", b'{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 1614265330)
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_names_of_headers_are_case_insensitive_and_other_signatures_are_skipped() -> None:
    headers = {name.title(): value for name, value in sign_webhook("evt_1", BODY, SECRET, NOW).items()}
    headers["Webhook-Signature"] = f"v2,abc v1,!!! v1,{base64.b64encode(b'x' * 32).decode()} {headers['Webhook-Signature']}"
    assert verify_webhook(BODY, headers, SECRET, now=lambda: NOW)["id"] == "evt_1"


REJECTED: dict[str, Callable[[], object]] = {
    "body_not_raw": lambda: verify(json.loads(BODY)),
    "missing_header": lambda: verify(**{"webhook-id": ""}),
    "invalid_timestamp": lambda: verify(**{"webhook-timestamp": "yesterday"}),
    "timestamp_too_old": lambda: verify(now=NOW + 301),
    "timestamp_too_new": lambda: verify(now=NOW - 301),
    "invalid_secret": lambda: verify(secrets="whsec_"),
    "no_matching_signature": lambda: verify(BODY + b" "),
}
#: What frameworks make of bytes that are not UTF-8.
SURROGATES = ["\udcff", "\ud800"]


@pytest.mark.parametrize("reason", REJECTED)
def test_anything_else_is_rejected(reason: str) -> None:
    with pytest.raises(WebhookVerificationError) as caught:
        REJECTED[reason]()
    assert caught.value.reason == reason


@pytest.mark.parametrize("changes", [{"webhook-id": "evt_2"}, {"webhook-timestamp": str(NOW + 1)}, {"webhook-signature": "v1,"}])
def test_a_changed_header_is_rejected(changes: dict[str, str]) -> None:
    with pytest.raises(WebhookVerificationError):
        verify(**changes)


@pytest.mark.parametrize("text", SURROGATES)
def test_surrogates_are_rejected(text: str) -> None:
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        with pytest.raises(WebhookVerificationError):
            verify(**{name: text})
    with pytest.raises(WebhookVerificationError):
        verify(text)


def test_a_signed_body_that_is_not_an_event_is_rejected() -> None:
    for body in (b"[]", b"{}", b"\xff", b'{"type": 1}'):
        with pytest.raises(WebhookVerificationError) as caught:
            verify_webhook(body, sign_webhook("e", body, SECRET, NOW), SECRET, now=lambda: NOW)
        assert caught.value.reason == "malformed_body"


def test_a_tolerance_of_nan_admits_nothing() -> None:
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, sign_webhook("e", BODY, SECRET, NOW), SECRET, tolerance=float("nan"), now=lambda: NOW)
