"""Starts a real service on an embedded PostgreSQL, the way an operator starts it."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Optional

import httpx
import pytest
from hostile import HostileService

from hourbank import Hourbank

COMMAND = ["node", str(Path(__file__).parents[2] / "server/bin/hourbank.js")]
#: Long enough for a busy machine: only what hangs takes this long.
WAIT_SECONDS = 300
OWNER = "owner@python.example"
PASSWORD = "correct horse battery"
#: Calls of the console, which a busy machine rejects with 503.
ATTEMPTS_MAX = 4
SCOPES = "users.read users.pii listings.read wallet.read wallet.write aggregates.read webhooks.manage".split()


_ports = iter(range(10_100 + os.getpid() % 500, 11_000))


def free_port() -> int:
    """Outside the range of outgoing connections, so that who listens there again finds it free."""
    for port in _ports:
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError("no port below 11000 is free")


class Service:
    """A service that can be restarted; its data stays."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / "service.log"
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ.get("HOME", ""),
            "DATA_DIR": str(folder / "data"),
            "PORT": str(self.port),
            "DEMO": "off",
        }
        self._process: Optional[subprocess.Popen[bytes]] = None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen([*COMMAND, "serve"], env=self._environment, stdout=log, stderr=log)
        deadline = time.monotonic() + WAIT_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start: {self._log.read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(WAIT_SECONDS)

    def run(self, *arguments: str) -> str:
        """Runs ``hourbank …`` beside the service."""
        done = subprocess.run([*COMMAND, *arguments], env=self._environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        return done.stdout

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz").status_code == 200
        except httpx.HTTPError:
            return False


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    folder = Path(tempfile.mkdtemp(prefix="hourbank-python-"))
    # The embedded database runs as another user if the tests run as root.
    folder.chmod(0o755)
    service = Service(folder)
    try:
        service.start()
        yield service
    finally:
        service.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Office:
    """Adds partners through the console: every test has one of its own, and a command takes a second to start."""

    def __init__(self, service: Service, slug: str) -> None:
        self._partners = f"/communities/{slug}/partners"
        base_url, headers = f"{service.url}/api/admin/v1", {"origin": service.url}
        self._http = httpx.Client(base_url=base_url, headers=headers, timeout=WAIT_SECONDS)
        arguments = ["--community", slug, "--email", OWNER, "--name", "Owner", "--json"]
        self._sign_in(json.loads(service.run("admin", "create", *arguments))["one_time_password"])

    def add_partner(self, **fields: str) -> dict[str, Any]:
        limits = {"rate_limit_per_minute": 100_000, "hours_per_day": 100_000}
        for _ in range(ATTEMPTS_MAX):
            # A partner whose secret was lost with an answer is left alone.
            name = f"Bank {time.time_ns()}"
            answer = self._http.post(self._partners, json={"name": name, "scopes": SCOPES, **limits, **fields})
            if answer.status_code != 503:
                break
        if not answer.is_success:
            raise RuntimeError(f"no partner: {answer.status_code} {answer.text}")
        partner: dict[str, Any] = answer.json()["data"]
        return partner

    def close(self) -> None:
        self._http.close()

    def _sign_in(self, one_time_password: str) -> None:
        for _ in range(ATTEMPTS_MAX):
            if self._try_to_sign_in(PASSWORD):
                return
            # It may be changed although the answer is 503: a busy machine does not answer in time.
            if self._try_to_sign_in(one_time_password):
                self._http.post("/password", json={"current_password": one_time_password, "new_password": PASSWORD})
        raise RuntimeError("The owner could not sign in.")

    def _try_to_sign_in(self, password: str) -> bool:
        return self._http.post("/session", json={"email": OWNER, "password": password}).is_success


@pytest.fixture(scope="session")
def office(service: Service) -> Iterator[Office]:
    """That of a test community with members and listings."""
    service.run("community", "create", "--slug", "python", "--name", "Python town", "--test", "--json")
    office = Office(service, "python")
    yield office
    office.close()


@pytest.fixture
def partner(office: Office) -> dict[str, Any]:
    return office.add_partner()


@pytest.fixture
def credentials(service: Service, partner: dict[str, Any]) -> dict[str, Any]:
    return {
        "base_url": service.url,
        "client_id": partner["client_id"],
        "client_secret": partner["client_secret"],
    }


@pytest.fixture
def client(credentials: dict[str, Any]) -> Iterator[Hourbank]:
    with Hourbank(**credentials) as client:
        yield client


@pytest.fixture
def hostile() -> Iterator[HostileService]:
    with HostileService() as hostile:
        yield hostile


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
