from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Optional

import pytest
from conftest import Service, free_port
from hostile import FakeTime, HostileService

from hourbank import ApiError, AsyncHourbank, Hourbank, create_webhook_secret, listen, listen_async, verify_webhook
from hourbank._sync.runtime import Clock

Delivery = tuple[bytes, dict[str, str]]


class Receiver(ThreadingHTTPServer):
    """A receiver on a developer's machine: plain HTTP, and restarted while they work."""

    allow_reuse_address = True

    def __init__(self, received: list[Delivery], port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.received = received


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append((body, dict(self.headers.items())))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None: ...


@contextmanager
def receiving(received: list[Delivery], port: Optional[int] = None) -> Iterator[int]:
    server = Receiver(received, port or free_port())
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def credit(client: Hourbank, reference: str) -> None:
    client.wallet.credit(user_id=client.users.list(limit=1).data[0]["id"], hours=1, reference=reference)


def next_reference(events: Iterator[tuple[Any, int]]) -> str:
    """Events of other tests may arrive in between."""
    while True:
        event, status = next(events)
        assert status == 204
        if event["type"] == "wallet.credited" and "reference" in event["data"]:
            return str(event["data"]["reference"])


def test_events_are_forwarded_in_order_past_restarts_of_receiver_and_service(
    service: Service, client: Hourbank
) -> None:
    received: list[Delivery] = []
    secret = create_webhook_secret()
    troubles: list[Optional[str]] = []
    with receiving(received) as port:
        url = f"http://127.0.0.1:{port}/hooks"
        events = listen(
            client,
            forward_to=url,
            secret=secret,
            on_ready=lambda: credit(client, "tx-1"),
            on_trouble=troubles.append,
            poll_seconds=0.02,
        )
        assert next_reference(events) == "tx-1"
    for reference in ("tx-2", "tx-3"):
        credit(client, reference)

    with receiving(received, port):
        assert [next_reference(events), next_reference(events)] == ["tx-2", "tx-3"]
        credit(client, "tx-4")
        service.stop()
        restarting = Thread(target=service.start)
        restarting.start()
        assert next_reference(events) == "tx-4"
        restarting.join()
    for body, headers in received:
        assert verify_webhook(body, headers, secret)["id"].startswith("evt_")


def test_a_receiver_that_is_away_is_waited_for(client: Hourbank) -> None:
    received: list[Delivery] = []
    with receiving(received) as port:
        pass
    running: list[Any] = []

    def on_trouble(message: Optional[str]) -> None:
        if message is not None:
            context = receiving(received, port)
            context.__enter__()
            running.append(context)

    events = listen(
        client,
        forward_to=f"http://127.0.0.1:{port}/hooks",
        secret=create_webhook_secret(),
        on_ready=lambda: credit(client, "away-1"),
        on_trouble=on_trouble,
        poll_seconds=0.02,
    )
    assert next_reference(events) == "away-1"
    assert len(running) == 1
    running[0].__exit__(None, None, None)


@pytest.mark.anyio
async def test_the_asynchronous_client_listens_too(credentials: dict[str, Any], client: Hourbank) -> None:
    received: list[Delivery] = []
    with receiving(received) as port:
        async with AsyncHourbank(**credentials) as listening:
            async for event, status in listen_async(
                listening,
                forward_to=f"http://127.0.0.1:{port}/hooks",
                secret=create_webhook_secret(),
                on_ready=lambda: credit(client, "async-listen"),
                poll_seconds=0.02,
            ):
                if event["type"] == "wallet.credited" and event["data"].get("reference") == "async-listen":
                    break
    assert status == 204 and len(received) > 0


class Stop(Exception):
    """Ends listening."""


def stop(*_: object) -> None:
    raise Stop


def test_a_service_that_is_away_is_reported_soon() -> None:
    time = FakeTime()
    begun = time.seconds
    client = time.client(f"http://127.0.0.1:{free_port()}")
    with pytest.raises(Stop):
        next(listen(client, forward_to="http://127.0.0.1:1", secret=create_webhook_secret(), on_trouble=stop))
    assert time.seconds - begun < 20


@pytest.mark.parametrize("asked, waited", [("0", 1), ("40", 40), ("9" * 30, 86_400)])
def test_a_service_that_is_away_may_ask_for_a_longer_pause(
    hostile: HostileService, monkeypatch: pytest.MonkeyPatch, asked: str, waited: int
) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        stop()

    monkeypatch.setattr("hourbank._sync.listen.Clock", lambda: Clock(sleep=sleep))
    hostile.answer = lambda call: call.reject(503, "unavailable", retry_after=asked)
    with pytest.raises(Stop):
        next(listen(FakeTime().client(hostile.url), forward_to="http://127.0.0.1:1", secret=create_webhook_secret()))
    assert pauses == [waited]


def test_rejected_credentials_end_it(credentials: dict[str, Any]) -> None:
    with Hourbank(**{**credentials, "client_secret": "wrong"}) as client:
        with pytest.raises(ApiError) as caught:
            next(listen(client, forward_to="http://127.0.0.1:1", secret=create_webhook_secret()))
    assert caught.value.code == "invalid_client"


def test_the_command_prints_the_secret_and_one_line_per_event(credentials: dict[str, Any], client: Hourbank) -> None:
    received: list[Delivery] = []
    environment = {
        **os.environ,
        "HOURBANK_URL": credentials["base_url"],
        "HOURBANK_CLIENT_ID": credentials["client_id"],
        "HOURBANK_CLIENT_SECRET": credentials["client_secret"],
    }
    with receiving(received) as port:
        command = [sys.executable, "-m", "hourbank", "listen", "--forward-to", f"http://127.0.0.1:{port}/hooks"]
        folder = Path(__file__).parents[1]
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert "Forwarding events to" in process.stdout.readline()
        secret = process.stdout.readline().split()[-1]
        credit(client, "command")
        line = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert "  wallet.credited  evt_" in line and line.endswith("  204\n")
    body, headers = received[0]
    assert verify_webhook(body, headers, secret)["type"] == "wallet.credited"


def test_an_address_without_a_scheme_is_rejected(hostile: HostileService) -> None:
    for address in ("hooks", "localhost:3000/hooks", "http:///hooks"):
        with pytest.raises(ValueError):
            next(listen(FakeTime().client(hostile.url), forward_to=address, secret="whsec_", on_ready=stop))
    command = [sys.executable, "-m", "hourbank", "listen", "--forward-to", "localhost:3000/hooks", "--url", hostile.url]
    environment = {"PATH": os.environ["PATH"], "HOURBANK_CLIENT_ID": "hbc_client", "HOURBANK_CLIENT_SECRET": "secret"}
    done = subprocess.run(command, env=environment, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 2 and "forward_to must be an address" in done.stderr
    assert hostile.calls == []


def test_the_command_without_credentials_says_what_is_missing() -> None:
    command = [sys.executable, "-m", "hourbank", "listen", "--forward-to", "http://127.0.0.1:1", "--url", "http://a.example"]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, env=environment, cwd=Path(__file__).parents[1], capture_output=True, text=True)
    assert done.returncode == 2 and "HOURBANK_CLIENT_ID" in done.stderr
