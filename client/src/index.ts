export type { PrivateJwk } from './assertion.ts'
export { Hourbank, type HourbankOptions } from './client.ts'
export type { CreditAllOptions, CreditProgress } from './credit-all.ts'
export {
  ApiError,
  HourbankError,
  WebhookVerificationError,
  type ErrorKind,
  type WebhookVerificationReason,
} from './errors.ts'
export type { BodyReader, Fetch, FetchInit, FetchResponse } from './fetch-json.ts'
export { createWebhookSecret, listen, type ListenOptions } from './listen.ts'
export { runListenCommand, type ListenCommand } from './listen-command.ts'
export type { Changes } from './paging.ts'
export type { CallOptions } from './transport.ts'
export * from './types.ts'
export { verifyWebhook, type VerifyOptions, type WebhookHeaders } from './webhooks.ts'
