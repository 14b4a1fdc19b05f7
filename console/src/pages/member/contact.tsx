import { t } from '@lingui/core/macro'
import { Anchor, Text } from '@mantine/core'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import type { OfficeMember } from '../../wire.ts'
import classes from './contact.module.css'
import { Tags } from './tags.tsx'

/** What one needs with the phone at the ear. Administrators alone see it, apart from name and email address. */
export function Contact({ member, mayChange }: { member: OfficeMember; mayChange: boolean }) {
  return (
    <Panel title={t`Contact`}>
      <Facts
        facts={[
          [t`Phone`, member.phone && <Phones key="phone" text={member.phone} />],
          [t`Email`, member.email && <Email key="email" address={member.email} />],
          [t`Address`, member.address && <Text className={classes.lines}>{member.address}</Text>],
          [t`Notes`, member.notes && <Text className={classes.lines}>{member.notes}</Text>],
          [t`Tags`, member.erased_at === null && <Tags key="tags" member={member} mayChange={mayChange} />],
          [t`Number`, member.external_id],
          [
            t`Payment reference`,
            <span key="reference">
              {member.payment_reference} <CopyButton value={member.payment_reference} what={t`payment reference`} />
            </span>,
          ],
          [t`Joined`, <Time key="joined" value={member.joined_at} as="date" focusable />],
          [t`Left`, member.left_at && member.erased_at === null && <Time value={member.left_at} focusable />],
          [t`Erased`, member.erased_at && <Time value={member.erased_at} focusable />],
        ]}
      />
    </Panel>
  )
}

/** In a line that is too short for it, the host begins the next one. */
function Email({ address }: { address: string }) {
  const host = address.lastIndexOf('@') + 1
  // Encoded: `?` and `&` may be part of a name, and would add recipients.
  const [name, domain] = [address.slice(0, host - 1), address.slice(host)].map(encodeURIComponent)
  return (
    <Anchor href={`mailto:${name}@${domain}`}>
      {address.slice(0, host)}
      <wbr />
      {address.slice(host)}
    </Anchor>
  )
}

/** Each can be tapped. What is written beside a number, such as 'mornings', is not dialled. */
function Phones({ text }: { text: string }) {
  return text.split(/[,;]/).map((part, index) => {
    const digits = dialled(part)
    return (
      <div key={index}>{digits.length > 2 ? <Anchor href={`tel:${digits}`}>{part.trim()}</Anchor> : part.trim()}</div>
    )
  })
}

/** The zero in '+49 (0)30 123' is dialled only without the country. */
function dialled(number: string): string {
  const plain = number.replaceAll(/[^\d+()]/g, '')
  return (/^(\+|00)/.test(plain) ? plain.replace('(0)', '') : plain).replaceAll(/[()]/g, '')
}
