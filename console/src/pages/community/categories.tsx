import { t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import { Button, Group, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { formatNumber } from '../../language/formats.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FormDialog } from '../../parts/form.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh, useRead } from '../../reading.ts'
import { useCommunityPath, useRole } from '../../session.ts'
import type { Category } from '../../wire.ts'

/** What listings are sorted by. */
export function Categories() {
  const { mayManage } = useRole()
  const { data, isError, error, refetch } = useRead<Category[]>(useCommunityPath()('/categories'))
  const [adding, setAdding] = useState(false)
  const add = mayManage && (
    <Button onClick={() => setAdding(true)}>
      <Trans>Add a category</Trans>
    </Button>
  )
  return (
    <Panel
      title={t`Categories`}
      description={t`Listings are sorted by these. A retired category is not offered for new listings; existing ones keep it.`}
      actions={add}
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Loading label={t`Categories`} height={480} />}
      {data && <CategoryTable categories={data} mayManage={mayManage} />}
      <CategoryDialog opened={adding} onClose={() => setAdding(false)} />
    </Panel>
  )
}

function CategoryTable({ categories, mayManage }: { categories: Category[]; mayManage: boolean }) {
  const [renaming, setRenaming] = useState<Category>()
  const [retiring, setRetiring] = useState<Category>()
  const retiringName = retiring?.name ?? ''
  const path = useCommunityPath()
  const retire = async () => {
    const change = { retired: retiring?.retired_at === null }
    await api.patch(path(`/categories/${retiring?.id}`), change, { version: retiring?.version })
    notify(retiring?.retired_at === null ? t`Category retired` : t`Category is offered again`)
    await refresh(path('/categories'))
  }
  return (
    <>
      <PlainTable
        label={t`Categories`}
        rows={categories}
        rowKey={(category) => category.id}
        empty={
          <EmptyState title={t`No categories yet`}>
            <Trans>Add one here, or with a listing: a new category is made by the first listing that names it.</Trans>
          </EmptyState>
        }
        columns={[
          { header: t`Name`, cell: ({ name }) => name },
          { header: t`Active listings`, align: 'end', cell: ({ active_listings }) => formatNumber(active_listings) },
          {
            header: t`Status`,
            cell: ({ retired_at }) =>
              retired_at ? (
                <StatusBadge status="closed" label={t`Retired`} />
              ) : (
                <StatusBadge status="active" label={t`Offered`} />
              ),
          },
          ...(mayManage
            ? [
                {
                  header: t`Actions`,
                  quiet: true,
                  align: 'end' as const,
                  cell: (category: Category) => (
                    <Group gap="xs" justify="flex-end">
                      <Button
                        variant="default"
                        size="compact-sm"
                        aria-label={t`Rename ${category.name}`}
                        onClick={() => setRenaming(category)}
                      >
                        <Trans>Rename</Trans>
                      </Button>
                      <Button
                        variant="default"
                        size="compact-sm"
                        aria-label={
                          category.retired_at ? t`Offer again: ${category.name}` : t`Retire: ${category.name}`
                        }
                        onClick={() => setRetiring(category)}
                      >
                        {category.retired_at ? t`Offer again` : t`Retire`}
                      </Button>
                    </Group>
                  ),
                },
              ]
            : []),
        ]}
      />
      {renaming && (
        <CategoryDialog key={renaming.id} category={renaming} opened onClose={() => setRenaming(undefined)} />
      )}
      <ConfirmDialog
        opened={retiring !== undefined}
        onClose={() => setRetiring(undefined)}
        title={retiring?.retired_at ? t`Offer ${retiringName} again?` : t`Retire ${retiringName}?`}
        confirm={retiring?.retired_at ? t`Offer again` : t`Retire`}
        action={retire}
      >
        {retiring?.retired_at
          ? t`New listings can be put under it again.`
          : t`It is no longer offered for new listings. Existing ones keep it. You can offer it again at any time.`}
      </ConfirmDialog>
    </>
  )
}

interface DialogProps {
  /** Absent: a new one. */
  category?: Category
  opened: boolean
  onClose: () => void
}

function CategoryDialog({ category, opened, onClose }: DialogProps) {
  const path = useCommunityPath()
  const form = useForm({
    initial: { name: category?.name ?? '' },
    check: ({ name }): Record<string, string> => (name.trim() ? {} : { name: t`Give it a name.` }),
    save: (values, { key }) =>
      category
        ? api.patch(path(`/categories/${category.id}`), values, { version: category.version })
        : api.post(path('/categories'), { ...values, key }),
    onSaved: () => {
      if (!category) form.reset()
      onClose()
      notify(category ? t`Category renamed` : t`Category added`)
      void refresh(path('/categories'), path('/listings'))
    },
  })
  return (
    <FormDialog
      form={form}
      title={category ? t`Rename ${category.name}` : t`Add a category`}
      submit={category ? t`Rename` : t`Add`}
      opened={opened}
      onClose={onClose}
    >
      {category && category.active_listings > 0 && (
        <Text size="sm">
          <Plural
            value={category.active_listings}
            one="Its # active listing follows, and partners are told."
            other="Its # active listings follow, and partners are told."
          />
        </Text>
      )}
      <TextInput label={t`Name`} data-autofocus {...form.text('name')} />
    </FormDialog>
  )
}
