/** What the routes of a partner feature are registered on; see frame.ts for what surrounds them. */
export type { TypedApi as PartnerApi } from '../shared/typed-api.ts'
