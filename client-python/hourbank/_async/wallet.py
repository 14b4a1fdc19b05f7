from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Optional, cast

from typing_extensions import Unpack

from .._credits import Batch, CreditResult, CreditSummary, Day, Hours, NewCredit, encode_credit, read_results
from .._paging import CreditsArguments, Page
from .._request import CallOptions, Operation, encode_body, id_text
from .._response import require_data
from ..types import Balance, Credit, CreditAnswer, CreditsMeta, Reversal
from .lists import ItemList
from .runtime import AnyIterable, iterate
from .transport import Transport

Progress = Callable[[CreditSummary], object]


class Wallet:
    """Hours. Scopes ``wallet.read`` and ``wallet.write``."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._credits: ItemList[Credit, CreditsMeta] = ItemList(transport, "/wallet/credits", CreditsArguments)

    async def balance(self, user_id: int, **options: Unpack[CallOptions]) -> Balance:
        """Reads a member's balance."""
        operation = Operation("GET", f"/wallet/balance/{id_text(user_id)}")
        return cast(Balance, require_data(operation.name, await self._transport.send(operation, options)))

    async def credit(
        self,
        *,
        user_id: int,
        hours: Hours,
        reference: str,
        note: Optional[str] = None,
        settled_on: Optional[Day] = None,
        **options: Unpack[CallOptions],
    ) -> CreditAnswer:
        """Credits hours from a settled bank transfer: once per reference, however often it is sent.

        So it is sent again for two minutes when its response is lost, and you may send it again too: ``replayed``
        tells whether the credit already existed.
        """
        fields = {"user_id": user_id, "hours": hours, "reference": reference, "note": note, "settled_on": settled_on}
        operation = Operation("POST", "/wallet/credit", body=encode_body(fields))
        return cast(CreditAnswer, require_data(operation.name, await self._transport.send(operation, options)))

    async def credit_all(
        self,
        credits: AnyIterable[NewCredit],
        *,
        on_progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> CreditSummary:
        """Makes any number of credits, up to 1,000 per request, each once per reference.

        Calls ``on_progress`` with the summary so far after each batch. A credit that the service rejects is listed in
        ``rejected`` and does not stop the others. If an error is raised, call it again with the same credits: those
        that were made already count as ``replayed``.
        """
        summary = CreditSummary()
        batch = Batch()
        async for credit in iterate(credits):
            item = encode_credit(credit)
            if len(batch) > 0 and not batch.fits(item):
                await self._send_batch(batch, summary, on_progress, options)
                batch = Batch()
            batch.add(item)
        if len(batch) > 0:
            await self._send_batch(batch, summary, on_progress, options)
        return summary

    async def credits(self, **arguments: Unpack[CreditsArguments]) -> Page[Credit, CreditsMeta]:
        """Reads one page of your own credits; ``meta`` has count and hours of the whole selection."""
        return await self._credits.page(arguments)

    def credit_pages(self, **arguments: Unpack[CreditsArguments]) -> AsyncIterator[Page[Credit, CreditsMeta]]:
        """Reads all pages of your own credits."""
        return self._credits.pages(arguments)

    def iterate_credits(self, **arguments: Unpack[CreditsArguments]) -> AsyncIterator[Credit]:
        """Reads all your own credits."""
        return self._credits.items(arguments)

    async def reverse(
        self,
        *,
        reference: str,
        reversal_reference: str,
        reason: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> Reversal:
        """Reverses a credit in full, for a returned bank transfer; once per ``reversal_reference``."""
        fields = {"reference": reference, "reversal_reference": reversal_reference, "reason": reason}
        operation = Operation("POST", "/wallet/credits/reverse", body=encode_body(fields))
        return cast(Reversal, require_data(operation.name, await self._transport.send(operation, options)))

    async def _send_batch(
        self, batch: Batch, summary: CreditSummary, on_progress: Optional[Progress], options: CallOptions
    ) -> None:
        operation = Operation("POST", "/wallet/credits/batch", body=batch.body())
        body = await self._transport.send(operation, options)
        results: list[CreditResult] = read_results(operation.name, body.get("data"), len(batch))
        summary.add(results)
        if on_progress is not None:
            on_progress(summary)
