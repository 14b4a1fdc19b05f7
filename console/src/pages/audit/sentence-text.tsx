import { Trans } from '@lingui/react'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import { whenOf } from './contents.ts'
import { sentenceOf } from './sentences.ts'
import type { AuditRecord } from '../../wire.ts'

/** 'Ada suspended the partner Bank', with the way to what it is about where there is one. */
export function SentenceText({ entry }: { entry: AuditRecord }) {
  const { message, actor, subject } = sentenceOf(entry)
  const when = whenOf(entry)
  const values = {
    ...isolated(message.values),
    who: (
      <strong>
        <Name>{actor}</Name>
      </strong>
    ),
    it: <Subject entry={entry} text={subject} />,
    when: when && <Time {...when} />,
  }
  return (
    <span>
      <Trans id={message.id} values={values} />
    </span>
  )
}

/** Names of people and things among the values. As elements, they are also never read as tags of the sentence. */
function isolated(values: Record<string, unknown> = {}) {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? <Name key={name}>{value}</Name> : value,
    ]),
  )
}

const PAGES: Record<string, '/$slug/members/$id' | '/$slug/partners/$id' | '/$slug/webhooks/$id'> = {
  member: '/$slug/members/$id',
  partner: '/$slug/partners/$id',
  subscription: '/$slug/webhooks/$id',
}

function Subject({ entry: { subject }, text }: { entry: AuditRecord; text: string }) {
  const { slug } = useCommunity()
  const name = <Name>{text}</Name>
  if (subject.id === null) return name
  if (subject.kind === 'transfer') {
    return (
      <LinkText
        inherit
        underline="always"
        to="/$slug/exchanges"
        params={{ slug }}
        search={{ transfer: String(subject.id) }}
      >
        {name}
      </LinkText>
    )
  }
  const to = PAGES[subject.kind]
  // What is gone has no name, and no page.
  if (!to || subject.name === null) return name
  return (
    <LinkText inherit underline="always" to={to} params={{ slug, id: String(subject.id) }}>
      {name}
    </LinkText>
  )
}
