import { Trans, useLingui } from '@lingui/react/macro'
import { Text, Title } from '@mantine/core'
import { QrCode } from '../../parts/qr-code.tsx'
import type { CommunitySettings, OfficeMember } from '../../wire.ts'
import { epcCode } from './epc-code.ts'
import classes from './printed-statement.module.css'

const CODE_SIZE = 150

interface Props {
  member: OfficeMember
  settings: CommunitySettings
  iban: string
}

/** How the member pays by bank transfer, so that the payment is recognized as theirs. */
export function BankTransfer({ member, settings, iban }: Props) {
  const { t } = useLingui()
  const name = settings.account_holder ?? settings.name
  const reference = member.payment_reference
  return (
    <section className={classes.transfer}>
      <QrCode
        text={epcCode({ name, iban, reference })}
        label={t`QR code for a bank transfer`}
        size={CODE_SIZE}
        correction="M"
      />
      <div>
        <Title order={2} size="h4">
          <Trans>Bank transfer</Trans>
        </Title>
        <Text size="sm">
          <Trans>Scan the code with your banking app, or type the following. The reference is yours alone.</Trans>
        </Text>
        <dl>
          <dt>
            <Trans context="who is paid">To</Trans>
          </dt>
          <dd>{name}</dd>
          <dt>IBAN</dt>
          <dd>{inFours(iban)}</dd>
          <dt>
            <Trans>Reference</Trans>
          </dt>
          <dd>{inFours(reference)}</dd>
        </dl>
      </div>
    </section>
  )
}

function inFours(text: string): string {
  return text.match(/.{1,4}/g)?.join(' ') ?? text
}
