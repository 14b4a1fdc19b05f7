from __future__ import annotations

from types import TracebackType
from typing import Optional

import httpx
from typing_extensions import Self, Unpack

from .._request import TIMEOUT_DEFAULT, TOTAL_TIMEOUT_DEFAULT, CallOptions, Limits
from .._settings import PrivateKeyText, Scopes, create_authentication, read_base_url, read_scope
from ..errors import HourbankError
from .community import Aggregates, Listings, Removals, Users
from .runtime import Clock
from .transport import Transport
from .wallet import Wallet
from .webhooks import Events, Webhooks


class AsyncHourbank:
    """The partner API. One instance serves a whole program: it keeps the access token and renews it in time.

    Pass a ``client_secret``, or the ``private_key`` (PEM or JWK) to a public key that is registered for the client.
    ``audience`` is needed with a key if the service is reached under another address than its public one. ``scope``
    defaults to everything that the client may do. Times are in seconds. ``http_client`` replaces the connection pool,
    for instance to use a proxy or a private certificate authority; ``close`` leaves it open.
    """

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: Optional[str] = None,
        *,
        private_key: Optional[PrivateKeyText] = None,
        key_id: Optional[str] = None,
        audience: Optional[str] = None,
        scope: Optional[Scopes] = None,
        timeout: float = TIMEOUT_DEFAULT,
        total_timeout: float = TOTAL_TIMEOUT_DEFAULT,
        retries: Optional[int] = None,
        http_client: Optional[httpx.AsyncClient] = None,
        clock: Optional[Clock] = None,
    ) -> None:
        clock = clock or Clock()
        base_url = read_base_url(base_url)
        authenticate = create_authentication(
            base_url, client_id, client_secret, private_key, key_id, audience, clock.wall_time
        )
        limits = Limits(timeout, total_timeout, retries)
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient()
        self._transport = Transport(base_url, authenticate, read_scope(scope), limits, clock, self._http)
        #: Members.
        self.users = Users(self._transport)
        #: Services and requests.
        self.listings = Listings(self._transport)
        #: Members and listings that can no longer be seen.
        self.removals = Removals(self._transport)
        #: Balances, credits and their reversal.
        self.wallet = Wallet(self._transport)
        #: Community totals.
        self.aggregates = Aggregates(self._transport)
        #: Subscriptions and deliveries.
        self.webhooks = Webhooks(self._transport)
        #: The same events as a feed.
        self.events = Events(self._transport)

    async def revoke_token(self, **options: Unpack[CallOptions]) -> None:
        """Revokes the access token, if there is one. The next call gets a new one."""
        await self._transport.revoke_token(options)

    async def close(self, **options: Unpack[CallOptions]) -> None:
        """Closes the client: later calls are rejected, and the token is revoked.

        A token that cannot be revoked, because the service is away, expires within the hour, so this raises nothing;
        ``revoke_token`` would.
        """
        self._transport.close()
        try:
            await self._transport.revoke_token({"retries": 0, **options})
        except HourbankError:
            pass
        finally:
            if self._owns_http:
                await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        await self.close()
