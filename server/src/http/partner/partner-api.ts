/** The instance on which partner features register their routes; see frame.ts for the hooks around them. */
export type { TypedApi as PartnerApi } from '../shared/typed-api.ts'
