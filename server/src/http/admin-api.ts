/** What the routes of the console are registered on; see admin-frame.ts for what surrounds them. */
export type { PartnerApi as AdminApi } from './partner-api.ts'
