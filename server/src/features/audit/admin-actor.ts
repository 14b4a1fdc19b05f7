import type { AdminSession } from '../../http/console/sessions.ts'
import type { Actor } from './record.ts'

/** The administrator behind a request, by the name that the community knows. */
export function adminActor({ session }: { session: AdminSession }): Actor {
  return { kind: 'admin', id: session.admin.id, name: session.community?.admin_name ?? session.admin.name }
}
