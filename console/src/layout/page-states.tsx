import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Center, Group, Loader } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { LinkButton } from '../parts/links.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Problem } from '../parts/problem.tsx'

export function PageLoading() {
  return (
    <Center mih="40vh" role="status" aria-label={t`Loading`}>
      <Loader type="dots" />
    </Center>
  )
}

export function NotFound() {
  return (
    <>
      <PageHeader
        title={t`Not found`}
        description={t`There is nothing at this address, or it belongs to a community that you do not administer.`}
      />
      <LinkButton to="/" variant="default">
        <Trans>To the start</Trans>
      </LinkButton>
    </>
  )
}

/** The rest of the console goes on when one page fails. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const again = () => {
    reset()
    void router.invalidate()
  }
  return (
    <>
      <PageHeader title={t`This page could not be shown`} />
      <Problem error={error} />
      <Group mt="lg">
        <Button onClick={again}>
          <Trans>Try again</Trans>
        </Button>
        <Button variant="default" onClick={() => window.location.reload()}>
          <Trans>Reload the console</Trans>
        </Button>
        <LinkButton to="/" variant="default">
          <Trans>To the start</Trans>
        </LinkButton>
      </Group>
    </>
  )
}
