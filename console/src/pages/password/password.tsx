import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Anchor } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { PlainPage } from '../../layout/plain-page.tsx'
import { signOut } from '../../session.ts'
import { ChangePassword } from './change-password.tsx'

/** After signing in with a one-time password nothing else is possible. */
export function Password() {
  const navigate = useNavigate()
  return (
    <PlainPage
      title={t`Choose your own password`}
      description={t`You signed in with a one-time password. Choose your own to go on.`}
      after={
        <Anchor component="button" type="button" size="sm" onClick={() => void signOut()}>
          <Trans>Sign out</Trans>
        </Anchor>
      }
    >
      <ChangePassword currentLabel={t`One-time password`} onChanged={() => void navigate({ to: '/' })} />
    </PlainPage>
  )
}
