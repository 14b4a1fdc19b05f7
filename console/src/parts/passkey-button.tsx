import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { canUsePasskeys } from '../passkeys.ts'
import { BusyButton } from './busy-button.tsx'
import { Problem } from './problem.tsx'

interface Props {
  /** Asks for the passkey and sends its signature. */
  action: () => Promise<void>
  /** Beside the button. */
  actions?: ReactNode
}

export function PasskeyButton({ action, actions }: Props) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const act = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await action()
    } catch (thrown) {
      setError(thrown)
      setBusy(false)
    }
  }
  return (
    <Stack>
      <Text size="sm">
        {canUsePasskeys()
          ? t`Your browser asks for your fingerprint, face, PIN or security key.`
          : t`This browser or this address of the console has no passkeys. Use something else.`}
      </Text>
      {error !== undefined && <Problem error={error} />}
      {actions}
      <BusyButton data-autofocus autoFocus loading={busy} disabled={!canUsePasskeys()} onClick={() => void act()}>
        <Trans>Use a passkey</Trans>
      </BusyButton>
    </Stack>
  )
}
