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
from pathlib import Path
from typing import Any, Optional

import httpx
import pytest
from hostile import HostileService

from hourbank import Hourbank

COMMAND = ["node", str(Path(__file__).parents[2] / "server/bin/hourbank.js")]
#: Long enough for a busy machine: only what hangs takes this long.
WAIT_SECONDS = 300
SCOPES = "users.read users.pii listings.read wallet.read wallet.write aggregates.read webhooks.manage".split()


class Service:
    """A service that can be restarted; its data stays."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
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
        email, password = "owner@python.example", "correct horse battery"
        arguments = ["--community", slug, "--email", email, "--name", "Owner", "--json"]
        one_time = json.loads(service.run("admin", "create", *arguments))["one_time_password"]
        self._post("/session", {"email": email, "password": one_time})
        self._post("/password", {"current_password": one_time, "new_password": password})

    def add_partner(self, **fields: str) -> dict[str, Any]:
        limits = {"rate_limit_per_minute": 100_000, "hours_per_day": 100_000}
        made = self._post(self._partners, {"name": f"Bank {time.time_ns()}", "scopes": SCOPES, **limits, **fields})
        partner: dict[str, Any] = made.json()["data"]
        return partner

    def close(self) -> None:
        self._http.close()

    def _post(self, path: str, body: dict[str, Any]) -> httpx.Response:
        deadline = time.monotonic() + WAIT_SECONDS
        # On a busy machine the service may not reach its database in time, and has changed nothing then.
        while (answer := self._http.post(path, json=body)).status_code == 503 and time.monotonic() < deadline:
            time.sleep(0.5)
        if not answer.is_success:
            raise RuntimeError(f"{path}: {answer.status_code} {answer.text}")
        return answer


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
