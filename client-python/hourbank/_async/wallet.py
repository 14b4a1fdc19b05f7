from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Optional, cast

from typing_extensions import Unpack

from .._credits import (
    BATCH_CREDITS_MAX,
    Batch,
    CreditSummary,
    Day,
    EncodedCredit,
    Hours,
    NewCredit,
    encode_batch,
    read_results,
    reject_malformed,
)
from .._paging import CreditsArguments, Page
from .._request import CallOptions, Operation, encode_body, id_text
from .._response import require_data
from ..errors import ApiError
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
        batch_size: int = BATCH_CREDITS_MAX,
        on_progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> CreditSummary:
        """Makes any number of credits, ``batch_size`` per request, each once per reference.

        Calls ``on_progress`` with the summary so far after each batch. A credit that is rejected, also because it is
        malformed, is listed in ``rejected`` and does not stop the others. If an error is raised, call it again with the
        same credits: those that were made already count as ``replayed``.
        """
        if not isinstance(batch_size, int) or not 1 <= batch_size <= BATCH_CREDITS_MAX:
            raise ValueError(f"batch_size must be an integer between 1 and {BATCH_CREDITS_MAX}.")
        summary = CreditSummary()
        batch = Batch(batch_size)
        async for credit in iterate(credits):
            encoded = EncodedCredit(credit)
            if len(batch) > 0 and not batch.fits(encoded):
                await self._send_batch(batch, summary, on_progress, options)
                batch = Batch(batch_size)
            batch.add(encoded)
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
        # The service rejects a batch as a whole if a credit is malformed. Each round takes at least one of them out.
        while pending := batch.pending():
            operation = Operation("POST", "/wallet/credits/batch", body=encode_batch(pending))
            try:
                body = await self._transport.send(operation, options)
            except ApiError as error:
                if not reject_malformed(pending, error):
                    raise
            else:
                results = read_results(operation.name, body.get("data"), len(pending))
                for credit, result in zip(pending, results):
                    credit.result = result
        summary.add(batch.results())
        if on_progress is not None:
            on_progress(summary)
