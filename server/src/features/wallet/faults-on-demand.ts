import type { FastifyReply, FastifyRequest } from 'fastify'
import { findFault, type TriggeredFault } from '../../core/test-triggers.ts'
import { toCentihours, toHours } from '../../core/hours.ts'
import type { Caller } from '../../http/partner/access.ts'
import { ApiError, type PartnerErrorCode } from '../../http/shared/errors.ts'
import type { PartnerApi } from '../../http/partner/partner-api.ts'
import { invalidField } from '../../http/shared/validation.ts'
import type { CreditMember } from './credit-member.ts'
import { CREDIT } from './schema.ts'

/** Longer than the timeout of any client that waits for a credit. */
const SILENCE_MS = 120_000
/** Connections held open in silence; further ones close at once. */
const SILENT_MAX = 100
/** References that have failed once. The oldest are forgotten, and would fail once more. */
const FAILED_ONCE_MAX = 10_000

type Operation = 'credit' | 'reversal'
interface Triggering {
  reference: string
  hours?: number
}

/**
 * Makes credits and reversals in test communities fail as their reference or amount asks for, after all checks of
 * the frame and before the ledger is touched.
 */
export function createFaults(api: PartnerApi) {
  const silent = new Set<FastifyRequest>()
  const failedOnce = new Set<string>()
  // Shutting down does not wait for connections that will never get a response.
  api.addHook('preClose', async () => silent.forEach(disconnect))

  function isOver({ communityId, partnerId }: Caller, operation: Operation, reference: string) {
    const key = `${communityId}:${partnerId}:${operation}:${reference}`
    if (failedOnce.has(key)) return true
    if (failedOnce.size >= FAILED_ONCE_MAX) failedOnce.delete(failedOnce.values().next().value!)
    failedOnce.add(key)
    return false
  }

  function keepSilent(request: FastifyRequest, { open }: FastifyReply): void {
    if (silent.size >= SILENT_MAX) return disconnect(request)
    // Otherwise the client would get 503 when the time for a response is over.
    if (open) {
      open.deadlineMs = Infinity
      // It does no work, so it takes no place from other calls.
      open.whenOver?.()
      open.whenOver = undefined
    }
    silent.add(request)
    const timer = setTimeout(disconnect, SILENCE_MS, request)
    request.raw.socket.once('close', () => {
      clearTimeout(timer)
      silent.delete(request)
    })
  }

  const hooksFor = (operation: Operation) => ({
    preHandler(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const triggering = triggeringOf(operation, request)
      const triggered = faultOf(operation, request.caller, triggering)
      if (!triggered || triggered.fault.kind === 'lost-response') return done()
      if (triggered.once && isOver(request.caller, operation, triggering.reference)) return done()
      if (triggered.fault.kind === 'silence') keepSilent(request, reply)
      else done(toError(triggered.fault, operation, triggering, request.caller))
    },

    /** 201 means that the work was done by this call; a replay gets its response. */
    onSend(request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void): void {
      if (reply.statusCode === 201 && losesResponse(operation, request.caller, triggeringOf(operation, request))) {
        disconnect(request)
      }
      done()
    },
  })

  return {
    hooksFor,

    /** For the items of a batch: errors of an item become its result, and other errors fail the batch. */
    creditItem: (creditMember: CreditMember): CreditMember => {
      return async (caller, request, group) => {
        const { fault, once } = faultOf('credit', caller, request) ?? {}
        const isDue = fault?.kind === 'error' && !(once && isOver(caller, 'credit', request.reference))
        if (isDue) throw toError(fault, 'credit', request, caller)
        return creditMember(caller, request, group)
      }
    },

    /** Closes the connection of a batch if it has made a credit that loses its response. */
    loseBatch(request: FastifyRequest, items: readonly Triggering[], results: readonly { result: string }[]): void {
      const isLost = items.some(
        (item, n) => results[n]!.result === 'created' && losesResponse('credit', request.caller, item),
      )
      if (isLost) disconnect(request)
    },
  }
}

function faultOf(operation: Operation, caller: Caller, triggering: Triggering): TriggeredFault | undefined {
  return caller.isTest ? findFault(operation, triggering) : undefined
}

function losesResponse(operation: Operation, caller: Caller, triggering: Triggering): boolean {
  return faultOf(operation, caller, triggering)?.fault.kind === 'lost-response'
}

function triggeringOf(operation: Operation, { body }: FastifyRequest): Triggering {
  if (operation === 'credit') return body as Triggering
  return { reference: (body as { reversal_reference: string }).reversal_reference }
}

function disconnect({ raw }: FastifyRequest): void {
  raw.socket.destroy()
}

function toError(
  { code, retryAfterSeconds }: { code: string; retryAfterSeconds?: number },
  operation: Operation,
  triggering: Triggering,
  { scopes }: Caller,
): ApiError {
  if (code === 'validation_failed') {
    const field = operation === 'credit' ? 'reference' : 'reversal_reference'
    return invalidField(field, 'not_allowed', 'is a test of this error')
  }
  return new ApiError(code as PartnerErrorCode, {
    // The log then says that nothing is wrong with the service.
    cause: new Error('asked for by a reference or an amount, in a test community'),
    ...(code === 'reference_conflict' && { data: inventConflict(triggering, scopes) }),
    headers: {
      ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
      ...(code === 'invalid_token' && { 'www-authenticate': 'Bearer realm="hourbank", error="invalid_token"' }),
      ...(code === 'insufficient_scope' && {
        'www-authenticate': 'Bearer realm="hourbank", error="insufficient_scope", scope="wallet.write"',
      }),
    },
  })
}

/** A credit under the same reference, of another amount. */
function inventConflict(request: Triggering, scopes: readonly string[]): object {
  const { balance_hours, ...credit } = { ...CREDIT, ...request }
  const hours = toHours((toCentihours(request.hours!) ?? 0) + 100)
  return { ...credit, hours, ...(scopes.includes('wallet.read') && { balance_hours }) }
}
