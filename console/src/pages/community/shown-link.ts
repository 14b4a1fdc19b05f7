import { t } from '@lingui/core/macro'
import type { ShownSecret } from '../../parts/secret-once.tsx'

/** A link that works once is a secret: its holder can sign in, or accept the role as a new person. */
export function shownLink(purpose: 'invitation' | 'reset', name: string, url: string): ShownSecret {
  const isInvitation = purpose === 'invitation'
  return {
    title: isInvitation ? t`Invitation for ${name}` : t`New password for ${name}`,
    intro: isInvitation
      ? t`Give this link to ${name} in a safe way; it works once, within seven days. It is shown only now. Anyone who has it can sign in with it.`
      : t`Give this link to ${name} in a safe way; it works once, within a day. It is shown only now. Anyone who has it can sign in with it.`,
    items: [{ label: t`Link`, value: url }],
    fileName: isInvitation ? 'invitation.txt' : 'new-password.txt',
  }
}
