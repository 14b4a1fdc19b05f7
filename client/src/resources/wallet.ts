import { creditAll, type CreditAllOptions } from '../credit-all.ts'
import { listAt } from '../paging.ts'
import { idText, sendForData, type CallOptions, type Send } from '../transport.ts'
import type {
  Balance,
  BatchedCredit,
  Credit,
  CreditAnswer,
  CreditRequest,
  CreditsMeta,
  CreditsQuery,
  Reversal,
  ReverseRequest,
} from '../types.ts'

/** Hours. Scopes `wallet.read` and `wallet.write`. */
export function walletResource(send: Send) {
  const credits = listAt<Credit, CreditsQuery, CreditsMeta>(send, '/wallet/credits')

  return {
    /** Reads a member's balance. */
    balance: async (userId: number, options?: CallOptions): Promise<Balance> =>
      sendForData(send, { method: 'GET', path: `/wallet/balance/${idText(userId)}`, repeatable: true }, options),
    /**
     * Credits hours from a settled bank transfer: once per reference, however often and from wherever it is sent. So it
     * is sent again when its answer is lost, and so may you: `replayed` tells whether the credit was there before.
     */
    credit: (request: CreditRequest, options?: CallOptions): Promise<CreditAnswer> =>
      sendForData(send, { method: 'POST', path: '/wallet/credit', body: request, repeatable: true }, options),
    /**
     * Credits many bank transfers in batches and yields the result of each, in order; nothing is sent before you iterate.
     * A rejected credit is a result, not an error. A batch is retried like a single credit. If that fails, the error is
     * thrown: run it again from the beginning or from there, and what was credited is `replayed`.
     */
    creditAll: (
      credits: Iterable<CreditRequest> | AsyncIterable<CreditRequest>,
      options?: CreditAllOptions,
    ): AsyncGenerator<BatchedCredit, void, undefined> => creditAll(send, credits, options),
    /** Reads one page of your own credits; `meta` has count and hours of the whole selection. */
    credits: credits.list,
    /** Reads page after page of your own credits. */
    creditPages: credits.pages,
    /** Reads credit after credit. */
    iterateCredits: credits.iterate,
    /** Takes a credit back, for a returned bank transfer: in full, once per `reversal_reference`. */
    reverse: (request: ReverseRequest, options?: CallOptions): Promise<Reversal> =>
      sendForData(send, { method: 'POST', path: '/wallet/credits/reverse', body: request, repeatable: true }, options),
  }
}
