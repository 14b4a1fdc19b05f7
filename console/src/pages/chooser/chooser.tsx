import { Badge, Group, Stack, Text } from '@mantine/core'
import { PlainPage } from '../../layout/plain-page.tsx'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { useSession } from '../../session.ts'

/** For administrators of several communities, or of none any more. */
export function Chooser() {
  const { communities } = useSession()
  if (communities.length === 0) return <None />
  return (
    <PlainPage title="Choose a community" after={<LinkText to="/account">Account and sessions</LinkText>}>
      <Stack gap="xs">
        {communities.map((one) => (
          <LinkButton
            key={one.slug}
            to="/$slug/overview"
            params={{ slug: one.slug }}
            variant="default"
            size="md"
            justify="space-between"
            rightSection={
              <Group gap="xs">
                {one.test && <Badge color="yellow">Test</Badge>}
                <Text size="sm" c="dimmed">
                  {one.role}
                </Text>
              </Group>
            }
          >
            {one.name}
          </LinkButton>
        ))}
      </Stack>
    </PlainPage>
  )
}

function None() {
  return (
    <PlainPage title="No community" description="You do not administer a community at the moment.">
      <Text>An owner of a community can invite you.</Text>
      <LinkText to="/account">Account and sessions</LinkText>
    </PlainPage>
  )
}
