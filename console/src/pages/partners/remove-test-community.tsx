import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { queryClient, sessionQuery, useCommunity, useCommunityPath, useRole } from '../../session.ts'

/** For the settings of a community; shows nothing unless it is a test community and one owns it. */
export function RemoveTestCommunity() {
  const { slug, name, test } = useCommunity()
  const { isOwner } = useRole()
  const path = useCommunityPath()
  const navigate = useNavigate()
  const [opened, setOpened] = useState(false)
  if (!test || !isOwner) return null
  const remove = async () => {
    await api.delete(path(), { query: { confirm: slug } })
    notify(t`${name} is removed`)
    // Away first: no page of it can be shown once the session no longer lists it.
    await navigate({ to: '/' })
    await queryClient.refetchQueries({ queryKey: sessionQuery.queryKey })
    queryClient.removeQueries({ queryKey: ['communities', slug] })
    // Once more: with only one community left, there is nothing to choose.
    await navigate({ to: '/', replace: true })
  }
  return (
    <Panel
      title={t`Remove this test community`}
      description={t`Its invented members, its partners, their credentials and all records are deleted for good.`}
      danger
      actions={
        <Button color="red" variant="outline" onClick={() => setOpened(true)}>
          <Trans>Remove …</Trans>
        </Button>
      }
    >
      <ConfirmDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={t`Remove ${name}?`}
        confirm={t`Remove for good`}
        danger
        typed={slug}
        action={remove}
      >
        <Trans>
          Everything in this test community is deleted, and everyone who is trying it out loses access at once. This
          cannot be undone. Your other communities are not touched.
        </Trans>
      </ConfirmDialog>
    </Panel>
  )
}
