import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Badge, Button, CloseButton, Group, Text } from '@mantine/core'
import { api } from '../../api.ts'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeMember } from '../../wire.ts'
import { TagField } from '../members/tag-field.tsx'

/** The tags of one member, to be added and taken away at once. */
export function Tags({ member, mayChange }: { member: OfficeMember; mayChange: boolean }) {
  const path = useCommunityPath()
  const change = async (tags: { add?: string[]; remove?: string[] }) => {
    await api.post(path('/tags'), { member_ids: [member.id], ...tags })
    await refresh(path('/members'), path('/tags'))
  }
  const form = useForm({
    initial: { tag: '' },
    check: ({ tag }): Record<string, string> => (tag.trim() ? {} : { tag: t`Write a tag.` }),
    save: ({ tag }) => change({ add: [tag] }),
    onSaved: () => form.replace({ tag: '' }),
  })
  return (
    <Group gap="xs" align="flex-start">
      {member.tags.map((tag) => (
        <Badge
          key={tag}
          variant="default"
          size="lg"
          tt="none"
          rightSection={
            mayChange && (
              <CloseButton
                size="sm"
                aria-label={t`Remove the tag ${tag}`}
                onClick={() => void change({ remove: [tag] })}
              />
            )
          }
        >
          {tag}
        </Badge>
      ))}
      {member.tags.length === 0 && !mayChange && <Text>–</Text>}
      {mayChange && (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void form.submit()
          }}
        >
          <Group gap="xs" align="flex-start">
            <TagField
              aria-label={t`New tag`}
              placeholder={t`New tag`}
              size="xs"
              w="9rem"
              {...form.text('tag')}
              error={form.errors['tag'] ?? form.errors['add']}
            />
            <Button type="submit" variant="default" size="xs" loading={form.busy}>
              <Trans>Add tag</Trans>
            </Button>
          </Group>
        </form>
      )}
    </Group>
  )
}
