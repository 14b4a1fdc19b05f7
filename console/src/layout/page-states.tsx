import { Button, Center, Group, Loader } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { LinkButton } from '../parts/links.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Problem } from '../parts/problem.tsx'

export function PageLoading() {
  return (
    <Center mih="40vh" role="status" aria-label="Loading">
      <Loader type="dots" />
    </Center>
  )
}

export function NotFound() {
  return (
    <>
      <PageHeader
        title="Not found"
        description="There is nothing at this address, or it belongs to a community that you do not administer."
      />
      <LinkButton to="/" variant="default">
        To the start
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
      <PageHeader title="This page could not be shown" />
      <Problem error={error} />
      <Group mt="lg">
        <Button onClick={again}>Try again</Button>
        <Button variant="default" onClick={() => window.location.reload()}>
          Reload the console
        </Button>
        <LinkButton to="/" variant="default">
          To the start
        </LinkButton>
      </Group>
    </>
  )
}
