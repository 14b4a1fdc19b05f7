/** The instance on which console features register their routes; see admin-frame.ts for the hooks around them. */
export type { TypedApi as AdminApi } from '../shared/typed-api.ts'
