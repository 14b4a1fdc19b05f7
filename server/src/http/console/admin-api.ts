/** What the routes of the console are registered on; see admin-frame.ts for what surrounds them. */
export type { TypedApi as AdminApi } from '../shared/typed-api.ts'
