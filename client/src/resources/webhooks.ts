import { listAt } from '../paging.ts'
import { TOTAL_TIMEOUT_MS_DEFAULT } from '../retry.ts'
import { idText, requireData, sendForData, type CallOptions, type Operation, type Send } from '../transport.ts'
import type {
  Delivery,
  DeliveriesQuery,
  EventTypeEntry,
  Page,
  ReplayRequest,
  ReplayStarted,
  Subscription,
  SubscriptionChange,
  SubscriptionMeta,
  SubscriptionRequest,
  SubscriptionWithSecret,
  TestSent,
} from '../types.ts'

const SUBSCRIPTIONS = '/webhooks/subscriptions'

/** Subscriptions and their deliveries. Scope `webhooks.manage`. */
export function webhooksResource(send: Send) {
  return {
    /** Subscriptions: which events go where. */
    subscriptions: subscriptionsResource(send),
    /** Sends one delivery again, from the start of the schedule. Not retried when its response is lost. */
    redeliver: async (deliveryId: number, options?: CallOptions): Promise<Delivery> => {
      const path = `/webhooks/deliveries/${idText(deliveryId)}/redeliver`
      return sendForData(send, { method: 'POST', path, repeatable: false }, options)
    },
    /** The catalogue of events, with JSON Schemas and examples. */
    eventTypes: (options?: CallOptions): Promise<EventTypeEntry[]> =>
      sendForData(send, { method: 'GET', path: '/webhooks/event-types', repeatable: true }, options),
  }
}

function subscriptionsResource(send: Send) {
  const { list, iterate } = listAt<Subscription>(send, SUBSCRIPTIONS)
  const pathOf = (id: number) => `${SUBSCRIPTIONS}/${idText(id)}`
  const deliveriesOf = (id: number) => listAt<Delivery, DeliveriesQuery>(send, `${pathOf(id)}/deliveries`)

  async function sendForSubscription<T extends Subscription>(operation: Operation, options?: CallOptions) {
    const body = await send(operation, options)
    const meta = body.meta as SubscriptionMeta | undefined
    const data = requireData<T>(body, `${operation.method} ${operation.path}`)
    return { ...data, unknown_event_types: meta?.unknown_event_types ?? [] }
  }

  return {
    /** Reads one page of your subscriptions. */
    list,
    /** Reads all subscriptions. */
    iterate,
    /**
     * Subscribes to events. The `secret` is returned only here. Not retried when its response is lost, because that could
     * create a second subscription: look for it with `list`, and delete it before you try again.
     */
    create: (request: SubscriptionRequest, options?: CallOptions): Promise<SubscriptionWithSecret & SubscriptionMeta> =>
      sendForSubscription({ method: 'POST', path: SUBSCRIPTIONS, body: request, repeatable: false }, options),
    /** Fetches one subscription. */
    get: async (id: number, options?: CallOptions): Promise<Subscription> =>
      sendForData(send, { method: 'GET', path: pathOf(id), repeatable: true }, options),
    /** Changes, pauses or resumes a subscription. */
    update: async (
      id: number,
      change: SubscriptionChange,
      options?: CallOptions,
    ): Promise<Subscription & SubscriptionMeta> =>
      sendForSubscription({ method: 'PATCH', path: pathOf(id), body: change, repeatable: true }, options),
    /** Deletes a subscription and its deliveries. */
    delete: async (id: number, options?: CallOptions): Promise<void> => {
      await send({ method: 'DELETE', path: pathOf(id), repeatable: true, endsInNotFound: true }, options)
    },
    /** Sends a `webhook.test` event to this subscription alone. Not retried when its response is lost. */
    test: async (id: number, options?: CallOptions): Promise<TestSent> =>
      sendForData(send, { method: 'POST', path: `${pathOf(id)}/test`, repeatable: false }, options),
    /**
     * Gives the subscription a new secret; the old one stays valid for 24 hours. Not retried when its response is lost:
     * call it again then, because the lost secret cannot be read again. A second rotation ends the oldest secret.
     */
    rotateSecret: async (id: number, options?: CallOptions): Promise<SubscriptionWithSecret> =>
      sendForData(send, { method: 'POST', path: `${pathOf(id)}/rotate-secret`, repeatable: false }, options),
    /** Delivers all events since a time again. Not retried when its response is lost. */
    replay: async (id: number, request: ReplayRequest, options?: CallOptions): Promise<ReplayStarted> =>
      sendForData(
        send,
        { method: 'POST', path: `${pathOf(id)}/replay`, body: request, repeatable: false },
        // Queueing many events takes longer than other calls.
        { timeoutMs: TOTAL_TIMEOUT_MS_DEFAULT, ...options },
      ),
    /** Reads one page of the deliveries, with every attempt. */
    deliveries: async (id: number, query?: DeliveriesQuery, options?: CallOptions): Promise<Page<Delivery>> =>
      deliveriesOf(id).list(query, options),
    /** Reads all deliveries. */
    iterateDeliveries: async function* (
      id: number,
      query?: DeliveriesQuery,
      options?: CallOptions,
    ): AsyncGenerator<Delivery, void, undefined> {
      yield* deliveriesOf(id).iterate(query, options)
    },
  }
}
