import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Badge, CloseButton, Group, Text } from '@mantine/core'
import { useRef, useState } from 'react'
import { api } from '../../api.ts'
import { BusyButton } from '../../parts/busy-button.tsx'
import { useFocusAfterWork } from '../../parts/focus.ts'
import { Problem } from '../../parts/problem.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { OfficeMember } from '../../wire.ts'
import { TagField } from '../members/tag-field.tsx'

/** The tags of one member, to be added and taken away at once. */
export function Tags({ member, mayChange }: { member: OfficeMember; mayChange: boolean }) {
  const path = useCommunityPath()
  const change = (tags: { add?: string[]; remove?: string[] }) =>
    api.post(path('/tags'), { member_ids: [member.id], ...tags })
  const readAgain = () => refresh(path('/members'), path('/tags'))
  const form = useForm({
    initial: { tag: '' },
    check: ({ tag }): Record<string, string> => (tag.trim() ? {} : { tag: t`Write a tag.` }),
    save: ({ tag }) => change({ add: [tag] }),
    onSaved: () => {
      form.replace({ tag: '' })
      void readAgain()
    },
  })
  const place = useRef<HTMLDivElement>(null)
  const [removing, setRemoving] = useState(false)
  useFocusAfterWork(removing)
  const [notRemoved, setNotRemoved] = useState<unknown>()
  const remove = async (tag: string) => {
    setRemoving(true)
    setNotRemoved(undefined)
    try {
      await change({ remove: [tag] })
      await readAgain()
      // The button is gone with the tag.
      place.current?.querySelector('input')?.focus()
    } catch (error) {
      setNotRemoved(error)
    } finally {
      setRemoving(false)
    }
  }
  // What is wrong with the tag itself is said at its field.
  const notAdded = Object.keys(form.errors).length === 0 ? form.failure : undefined
  return (
    <Group ref={place} gap="xs" align="flex-start">
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
                disabled={removing}
                onClick={() => void remove(tag)}
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
            <BusyButton type="submit" variant="default" size="xs" loading={form.busy}>
              <Trans>Add tag</Trans>
            </BusyButton>
          </Group>
        </form>
      )}
      {notRemoved !== undefined && <Problem error={notRemoved} />}
      {notAdded !== undefined && <Problem error={notAdded} />}
    </Group>
  )
}
