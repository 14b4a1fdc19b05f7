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
      title="Choose your own password"
      description="You signed in with a one-time password. Choose your own to go on."
      after={
        <Anchor component="button" type="button" size="sm" onClick={() => void signOut()}>
          Sign out
        </Anchor>
      }
    >
      <ChangePassword currentLabel="One-time password" onChanged={() => void navigate({ to: '/' })} />
    </PlainPage>
  )
}
