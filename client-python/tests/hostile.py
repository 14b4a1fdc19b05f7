"""A service that answers as a test wants, and loses its answers in every way there is."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Optional

import httpx

from hourbank import AsyncHourbank, Hourbank
from hourbank._async.runtime import Clock as AsyncClock
from hourbank._sync.runtime import Clock

API_PREFIX = "/api/partner/v1"
SECRET = "the-secret-of-the-client"
#: Only what hangs takes this long.
WAIT_SECONDS = 60
#: Short enough not to be waited for, in real seconds.
SHORT_TIMEOUT = 0.2


@dataclass
class Call:
    method: str
    path: str
    token: Optional[str]
    body: bytes
    handler: Handler

    def reply(self, status: int, body: object, **headers: str) -> None:
        self.reply_raw(status, json.dumps(body).encode(), content_type="application/json", **headers)

    def reply_raw(self, status: int, body: bytes, length: Optional[int] = None, **headers: str) -> None:
        self.handler.send_response_only(status)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-length", str(len(body) if length is None else length))
        self.handler.end_headers()
        self.handler.wfile.write(body)

    def reject(self, status: int, code: str, **headers: str) -> None:
        self.reply(status, {"error": code, "error_description": "No.", "request_id": "r-1"}, **headers)

    def reset(self) -> None:
        connection = self.handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.disconnect()

    def disconnect(self) -> None:
        self.handler.close_connection = True
        self.handler.connection.close()

    def hang(self) -> None:
        self.handler.server.released.wait()
        self.handler.close_connection = True


Answer = Callable[[Call], None]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    hostile: HostileService

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        #: Set at the end, so that no answer hangs longer than its test.
        self.released = Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Connections break off on purpose here."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.removeprefix(API_PREFIX)
        token = (self.headers.get("authorization") or "").removeprefix("Bearer ") or None
        hostile = self.server.hostile
        call = Call(self.command, path, token, body, self)
        hostile.calls.append(call)
        (hostile.answer_token if path.startswith("/oauth/") else hostile.answer)(call)

    do_POST = do_PATCH = do_DELETE = do_GET

    def log_message(self, format: str, *arguments: object) -> None: ...


def page(data: Optional[list[Any]] = None, next_cursor: Optional[str] = None) -> dict[str, Any]:
    return {
        "data": data or [],
        "meta": {"limit": 25, "has_more": next_cursor is not None, "next_cursor": next_cursor},
    }


class HostileService:
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.answer: Answer = lambda call: call.reply(200, page())
        self.answer_token: Answer = self._issue_token
        self._tokens: Iterator[int] = iter(range(1, 1_000_000))

    def _issue_token(self, call: Call) -> None:
        token = f"the-token-{next(self._tokens)}"
        call.reply(200, {"access_token": token, "token_type": "Bearer", "expires_in": 3600})

    def asked(self) -> list[Call]:
        """Calls that are not about tokens."""
        return [call for call in self.calls if not call.path.startswith("/oauth/")]

    def wait_for_calls(self, count: int) -> list[Call]:
        """A client may have given up a call that the service has not read yet."""
        deadline = time.monotonic() + WAIT_SECONDS
        while len(self.asked()) < count and time.monotonic() < deadline:
            time.sleep(0.01)
        return self.asked()

    def hand_out_token(self, client: Hourbank) -> None:
        """For tests of short timeouts, which apply to the request of a token as well."""
        client.users.list()
        self.calls.clear()

    def tokens_asked(self) -> int:
        return sum(call.path == "/oauth/token" for call in self.calls)

    def __enter__(self) -> HostileService:
        self._server = Server()
        self._server.hostile = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.released.set()
        self._server.shutdown()
        self._server.server_close()


@dataclass
class FakeTime:
    """Pauses take no time, but the clock counts them."""

    seconds: float = 1_769_850_000.0
    pauses: list[float] = field(default_factory=list)
    random: float = 0.5

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.seconds += seconds

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)

    def now(self) -> float:
        return self.seconds

    def client(self, url: str, **options: Any) -> Hourbank:
        clock = Clock(self.now, self.now, self.sleep, lambda: self.random)
        # Over plain HTTP; loading the certificates takes 29 ms for each client.
        return Hourbank(url, "hbc_client", SECRET, clock=clock, http_client=httpx.Client(verify=False), **options)

    def async_client(self, url: str, **options: Any) -> AsyncHourbank:
        clock = AsyncClock(self.now, self.now, self.sleep_async, lambda: self.random)
        http_client = httpx.AsyncClient(verify=False)
        return AsyncHourbank(url, "hbc_client", SECRET, clock=clock, http_client=http_client, **options)


def truncated(call: Call) -> None:
    call.reply_raw(200, b'{"data": {"trans', length=100)
    call.disconnect()


#: All the ways in which a response gets lost, and what the caller is told in the end.
LOSSES: dict[str, tuple[Answer, dict[str, object]]] = {
    "the connection is reset": (Call.reset, {"kind": "network"}),
    "the connection is closed": (Call.disconnect, {"kind": "network"}),
    "there is no response": (Call.hang, {"kind": "timeout"}),
    "the body is cut off": (truncated, {"kind": "network"}),
    "the encoding is wrong": (
        lambda call: call.reply_raw(200, b"not gzip", content_encoding="gzip"),
        {"kind": "network"},
    ),
    "it is not HTTP": (
        lambda call: (call.handler.wfile.write(b"220 smtp.example.org ESMTP\r\n\r\n"), call.disconnect())[0] and None,
        {"kind": "network"},
    ),
    "a page comes instead": (
        lambda call: call.reply_raw(200, b"<h1>Please log in</h1>", content_type="text/html"),
        {"kind": "invalid_response"},
    ),
    "the JSON is not an object": (lambda call: call.reply(200, ["data"]), {"kind": "invalid_response"}),
    "a proxy says 502": (lambda call: call.reply_raw(502, b"<h1>Bad gateway</h1>"), {"code": "http_502"}),
    "a proxy says 504": (lambda call: call.reply_raw(504, b""), {"status": 504}),
    "the service is away": (
        lambda call: call.reject(503, "unavailable", retry_after="5"),
        {"code": "unavailable", "request_id": "r-1", "retry_after": 5},
    ),
    "there are too many calls": (
        lambda call: call.reject(429, "rate_limited", retry_after="1"),
        {"code": "rate_limited", "retry_after": 1},
    ),
}
