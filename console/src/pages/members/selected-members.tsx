import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { TagField } from './tag-field.tsx'

/** More would make the address too long, and nobody prints more at once. */
export const STATEMENTS_MAX = 200

interface Props {
  ids: number[]
  /** Of the rows that are loaded. */
  selectAll: () => void
  clear: () => void
}

/** What can be done with the members who are marked. */
export function SelectedMembers({ ids, selectAll, clear }: Props) {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { mayManage } = useRole()
  return (
    <Group role="group" aria-label="Selected members" gap="sm" mb="sm" className="no-print">
      <Text size="sm" role="status">
        {ids.length} selected
      </Text>
      {mayManage && <TagMembers ids={ids} what="add" />}
      {mayManage && <TagMembers ids={ids} what="remove" />}
      <CsvDownload path={path('/members/export')} query={{ ids: ids.join(',') }} sensitive>
        Export selected
      </CsvDownload>
      {ids.length <= STATEMENTS_MAX && (
        <LinkButton
          variant="default"
          to="/$slug/members/statements"
          params={{ slug }}
          search={{ ids: ids.join(',') } as never}
        >
          Print statements
        </LinkButton>
      )}
      <Button variant="subtle" onClick={selectAll}>
        Select all shown
      </Button>
      <Button variant="subtle" onClick={clear}>
        Select none
      </Button>
    </Group>
  )
}

const WORDS = {
  add: { button: 'Tag', title: 'Tag the selected members', submit: 'Add tag', done: 'Tagged' },
  remove: { button: 'Remove tag', title: 'Remove a tag', submit: 'Remove tag', done: 'Tag removed' },
}

function TagMembers({ ids, what }: { ids: number[]; what: 'add' | 'remove' }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const words = WORDS[what]
  const form = useForm({
    initial: { tag: '' },
    check: ({ tag }): Record<string, string> => (tag.trim() ? {} : { tag: 'Write a tag.' }),
    save: ({ tag }) => api.post(path('/tags'), { member_ids: ids, [what]: [tag] }),
    onSaved: () => {
      setOpened(false)
      notify(words.done)
      void refresh(path('/members'), path('/tags'))
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {words.button}
      </Button>
      <FormDialog
        form={form}
        title={words.title}
        submit={words.submit}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text size="sm">{ids.length === 1 ? 'One member is selected.' : `${ids.length} members are selected.`}</Text>
        <TagField label="Tag" data-autofocus {...form.text('tag')} error={form.errors['tag'] ?? form.errors[what]} />
      </FormDialog>
    </>
  )
}
