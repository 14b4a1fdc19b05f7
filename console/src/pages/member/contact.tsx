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
  return (
    <Anchor href={`mailto:${address}`}>
      {address.slice(0, host)}
      <wbr />
      {address.slice(host)}
    </Anchor>
  )
}

/** Each can be tapped. What is written beside a number, such as 'mornings', is not dialled. */
function Phones({ text }: { text: string }) {
  return text.split(/[,;]/).map((part) => {
    const digits = part.replaceAll(/[^\d+]/g, '')
    return (
      <div key={part}>{digits.length > 2 ? <Anchor href={`tel:${digits}`}>{part.trim()}</Anchor> : part.trim()}</div>
    )
  })
}
