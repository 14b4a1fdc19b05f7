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
     * Credits hours from a settled bank transfer, exactly once per reference. It is therefore retried when the response
     * is lost, and you can send it again too: `replayed` tells whether the credit already existed.
     */
    credit: (request: CreditRequest, options?: CallOptions): Promise<CreditAnswer> =>
      sendForData(send, { method: 'POST', path: '/wallet/credit', body: request, repeatable: true }, options),
    /**
     * Credits many bank transfers in batches and yields the result of each, in order. Nothing is sent before you
     * iterate. A rejected credit is a result, not an error. A batch is retried like a single credit. If that fails, the
     * error is thrown: run it again from the beginning or from there, and existing credits are `replayed`.
     */
    creditAll: (
      requests: Iterable<CreditRequest> | AsyncIterable<CreditRequest>,
      options?: CreditAllOptions,
    ): AsyncGenerator<BatchedCredit, void, undefined> => creditAll(send, requests, options),
    /** Reads one page of your own credits; `meta` has count and hours of the whole selection. */
    credits: credits.list,
    /** Reads all pages of your own credits. */
    creditPages: credits.pages,
    /** Reads all your own credits. */
    iterateCredits: credits.iterate,
    /** Reverses a credit in full, for a returned bank transfer; once per `reversal_reference`. */
    reverse: (request: ReverseRequest, options?: CallOptions): Promise<Reversal> =>
      sendForData(send, { method: 'POST', path: '/wallet/credits/reverse', body: request, repeatable: true }, options),
  }
}
