from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import httpx

from .._request import API_PREFIX, CallOptions, Limits, Operation, encode_body
from .._response import RESPONSE_BYTES_MAX, read_response
from .._retry import Retries
from .._token import TokenStore
from .._version import __version__
from ..errors import ApiError, HourbankError
from .runtime import Clock, Lock, acquire, fail_after

USER_AGENT = f"hourbank-python/{__version__}"


class Transport:
    """Sends operations with a valid token, and again when that is safe and likely to succeed."""

    def __init__(
        self,
        base_url: str,
        authenticate: Callable[[], dict[str, str]],
        scope: Optional[str],
        limits: Limits,
        clock: Clock,
        http: httpx.AsyncClient,
    ) -> None:
        self._base = base_url + API_PREFIX
        self._authenticate = authenticate
        self._scope = scope
        self._limits = limits
        self._clock = clock
        self._http = http
        self._tokens = TokenStore(clock.now)
        self._token_lock = Lock()
        #: Of the last token request, and how many have failed so far.
        self._token_error: Optional[HourbankError] = None
        self._token_failures = 0
        self._is_closed = False

    async def send(self, operation: Operation, options: CallOptions) -> dict[str, Any]:
        """Returns the body of a success."""
        limits = self._limits.changed(options)
        retries = Retries(limits, self._clock.now, self._clock.random)
        is_renewed = False
        may_be_done = False
        while True:
            token = None
            try:
                token = await self._current_token(limits, retries.left())
                return await self._send_with_token(operation, token, limits, retries.left())
            except HourbankError as error:
                if token is not None and isinstance(error, ApiError) and error.code == "invalid_token":
                    self._tokens.forget(token)
                    if not is_renewed:
                        # Rejected before anything was done, so even what must not be done twice can be sent again.
                        is_renewed = True
                        continue
                if operation.ends_in_not_found and may_be_done and isinstance(error, ApiError) and error.status == 404:
                    return {}
                was_rejected = isinstance(error, ApiError) and error.status == 429
                may_be_done = may_be_done or (token is not None and not was_rejected)
                # Without a token nothing was sent, so it is safe to try again.
                pause = retries.pause_after(error, repeatable=operation.repeatable or token is None)
            await self._clock.sleep(pause)

    async def revoke_token(self, options: CallOptions) -> None:
        limits = self._limits.changed(options)
        token = self._tokens.take()
        if token is None:
            return
        retries = Retries(limits, self._clock.now, self._clock.random)
        while True:
            try:
                await self._send_credentials("/oauth/revoke", {"token": token}, limits, retries.left())
                return
            except HourbankError as error:
                pause = retries.pause_after(error, repeatable=True)
            await self._clock.sleep(pause)

    def close(self) -> None:
        self._is_closed = True

    async def _current_token(self, limits: Limits, left: float) -> str:
        if self._is_closed:
            raise HourbankError("This client was closed.", "closed")
        token = self._tokens.fresh()
        # While one caller renews the token, the others go on with the old one.
        if token is None and self._token_lock.locked():
            token = self._tokens.usable()
        if token is not None:
            return token
        failures = self._token_failures
        if not await acquire(self._token_lock, left):
            raise HourbankError("POST /oauth/token: no response in time", "timeout")
        try:
            return self._tokens.fresh() or await self._renew_token(limits, left, failures)
        finally:
            self._token_lock.release()

    async def _renew_token(self, limits: Limits, left: float, failures: int) -> str:
        # The request that this caller waited for has failed: the failure is shared like a token would be.
        if self._token_error is not None and self._token_failures > failures:
            raise self._token_error
        asked_at = self._clock.now()
        parameters = {"grant_type": "client_credentials"} | ({"scope": self._scope} if self._scope else {})
        try:
            response = await self._send_credentials("/oauth/token", parameters, limits, left)
            return self._tokens.store(response, asked_at)
        except HourbankError as error:
            token = self._tokens.usable()
            if token is not None:
                return token
            self._token_error = error
            self._token_failures += 1
            raise

    async def _send_credentials(
        self, path: str, parameters: dict[str, str], limits: Limits, left: float
    ) -> dict[str, Any]:
        # Created for each attempt: an assertion is accepted once, and the response to it may have been lost.
        authentication = self._authenticate()
        secrets = [authentication.get("client_secret"), authentication.get("client_assertion"), parameters.get("token")]
        operation = Operation("POST", path, body=encode_body(authentication | parameters))
        return await self._attempt(operation, {}, [secret for secret in secrets if secret], limits, left)

    async def _send_with_token(self, operation: Operation, token: str, limits: Limits, left: float) -> dict[str, Any]:
        return await self._attempt(operation, {"authorization": f"Bearer {token}"}, [token], limits, left)

    async def _attempt(
        self, operation: Operation, headers: dict[str, str], secrets: list[str], limits: Limits, left: float
    ) -> dict[str, Any]:
        limit = max(0.001, min(limits.timeout, left))
        headers = {"accept": "application/json", "user-agent": USER_AGENT} | headers
        if operation.body is not None:
            headers["content-type"] = "application/json"
        try:
            with fail_after(limit):
                response, body = await self._exchange(operation, headers, limit)
        except (httpx.TimeoutException, TimeoutError) as error:
            raise HourbankError(f"{operation.name}: no response within {limit:g} s", "timeout") from error
        except (httpx.HTTPError, OSError) as error:
            raise HourbankError(f"{operation.name}: no response ({type(error).__name__})", "network") from error
        name, status = operation.name, response.status_code
        return read_response(name, status, response.headers, body, secrets, self._clock.wall_time())

    async def _exchange(
        self, operation: Operation, headers: dict[str, str], limit: float
    ) -> tuple[httpx.Response, bytes]:
        deadline = self._clock.now() + limit
        url = self._base + operation.path_and_query
        chunks: list[bytes] = []
        size = 0
        # Redirects are not followed: one must never carry a secret or the hours of a member elsewhere.
        async with self._http.stream(
            operation.method, url, headers=headers, content=operation.body, timeout=limit, follow_redirects=False
        ) as response:
            async for chunk in response.aiter_bytes():
                chunks.append(chunk)
                size += len(chunk)
                if size > RESPONSE_BYTES_MAX:
                    message = f"{operation.name}: the response is larger than {RESPONSE_BYTES_MAX} bytes"
                    raise HourbankError(message, "invalid_response")
                if self._clock.now() > deadline:
                    raise TimeoutError
        return response, b"".join(chunks)
