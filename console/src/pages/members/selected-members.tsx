import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { translate } from '../../language/translate.ts'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { notify } from '../../parts/notices.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { idsForExport, idsForTags } from './selection.ts'
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
  const count = ids.length
  const exported = idsForExport(ids)
  return (
    <Group role="group" aria-label={t`Selected members`} gap="sm" mb="sm" className="no-print">
      <Text size="sm" role="status">
        {plural(count, { one: '# selected', other: '# selected' })}
      </Text>
      {mayManage && <TagMembers ids={ids} what="add" />}
      {mayManage && <TagMembers ids={ids} what="remove" />}
      {exported !== undefined && (
        <CsvDownload path={path('/members/export')} query={{ ids: exported }} sensitive>
          {t`Export selected`}
        </CsvDownload>
      )}
      {ids.length <= STATEMENTS_MAX && (
        <LinkButton variant="default" to="/$slug/members/statements" params={{ slug }} search={{ ids: ids.join(',') }}>
          <Trans>Print statements</Trans>
        </LinkButton>
      )}
      <Button variant="subtle" onClick={selectAll}>
        <Trans>Select all shown</Trans>
      </Button>
      <Button variant="subtle" onClick={clear}>
        <Trans>Select none</Trans>
      </Button>
    </Group>
  )
}

const WORDS = {
  add: {
    button: msg({ message: 'Tag', context: 'to give a tag to members' }),
    title: msg`Tag the selected members`,
    submit: msg`Add tag`,
    done: msg`Tagged`,
  },
  remove: { button: msg`Remove tag`, title: msg`Remove a tag`, submit: msg`Remove tag`, done: msg`Tag removed` },
}

function TagMembers({ ids, what }: { ids: number[]; what: 'add' | 'remove' }) {
  const path = useCommunityPath()
  const [opened, setOpened] = useState(false)
  const words = WORDS[what]
  const count = ids.length
  const form = useForm({
    initial: { tag: '' },
    check: ({ tag }): Record<string, string> => (tag.trim() ? {} : { tag: t`Write a tag.` }),
    save: async ({ tag }) => {
      for (const member_ids of idsForTags(ids)) await api.post(path('/tags'), { member_ids, [what]: [tag] })
    },
    onSaved: () => {
      setOpened(false)
      notify(translate(words.done))
      void refresh(path('/members'), path('/tags'))
    },
  })
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        {translate(words.button)}
      </Button>
      <FormDialog
        form={form}
        title={translate(words.title)}
        submit={translate(words.submit)}
        opened={opened}
        onClose={() => setOpened(false)}
      >
        <Text size="sm">{plural(count, { one: 'One member is selected.', other: '# members are selected.' })}</Text>
        <TagField label={t`Tag`} data-autofocus {...form.text('tag')} error={form.errors['tag'] ?? form.errors[what]} />
      </FormDialog>
    </>
  )
}
