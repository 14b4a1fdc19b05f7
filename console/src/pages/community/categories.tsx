import { Button, Group, Skeleton, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FormDialog } from '../../parts/form.tsx'
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
  const add = mayManage && <Button onClick={() => setAdding(true)}>Add a category</Button>
  return (
    <Panel
      title="Categories"
      description="What listings are sorted by. A retired category is not offered for new listings; those that have it keep it."
      actions={add}
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Skeleton height={200} />}
      {data && <CategoryTable categories={data} mayManage={mayManage} />}
      <CategoryDialog opened={adding} onClose={() => setAdding(false)} />
    </Panel>
  )
}

function CategoryTable({ categories, mayManage }: { categories: Category[]; mayManage: boolean }) {
  const [renaming, setRenaming] = useState<Category>()
  const [retiring, setRetiring] = useState<Category>()
  const path = useCommunityPath()
  const retire = async () => {
    const change = { retired: retiring?.retired_at === null }
    await api.patch(path(`/categories/${retiring?.id}`), change, { version: retiring?.version })
    notify(retiring?.retired_at === null ? 'Category retired' : 'Category is offered again')
    await refresh(path('/categories'))
  }
  return (
    <>
      <PlainTable
        label="Categories"
        rows={categories}
        rowKey={(category) => category.id}
        empty={
          <EmptyState title="No category yet">
            Add one here, or with a listing: a new category is made by the first listing that names it.
          </EmptyState>
        }
        columns={[
          { header: 'Name', cell: ({ name }) => name },
          { header: 'Active listings', align: 'end', cell: ({ active_listings }) => active_listings },
          {
            header: 'Status',
            cell: ({ retired_at }) =>
              retired_at ? (
                <StatusBadge status="closed" label="Retired" />
              ) : (
                <StatusBadge status="active" label="Offered" />
              ),
          },
          ...(mayManage
            ? [
                {
                  header: 'Actions',
                  quiet: true,
                  align: 'end' as const,
                  cell: (category: Category) => (
                    <Group gap="xs" justify="flex-end">
                      <Button
                        variant="default"
                        size="compact-sm"
                        aria-label={`Rename ${category.name}`}
                        onClick={() => setRenaming(category)}
                      >
                        Rename
                      </Button>
                      <Button
                        variant="default"
                        size="compact-sm"
                        aria-label={`${category.retired_at ? 'Offer again' : 'Retire'}: ${category.name}`}
                        onClick={() => setRetiring(category)}
                      >
                        {category.retired_at ? 'Offer again' : 'Retire'}
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
        title={retiring?.retired_at ? `Offer ${retiring.name} again?` : `Retire ${retiring?.name}?`}
        confirm={retiring?.retired_at ? 'Offer again' : 'Retire'}
        action={retire}
      >
        {retiring?.retired_at
          ? 'New listings can be put under it again.'
          : 'It is not offered for new listings any more. Listings that have it keep it. You can offer it again at any time.'}
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
    check: ({ name }): Record<string, string> => (name.trim() ? {} : { name: 'Give it a name.' }),
    save: (values, { key }) =>
      category
        ? api.patch(path(`/categories/${category.id}`), values, { version: category.version })
        : api.post(path('/categories'), { ...values, key }),
    onSaved: () => {
      if (!category) form.reset()
      onClose()
      notify(category ? 'Category renamed' : 'Category added')
      void refresh(path('/categories'), path('/listings'))
    },
  })
  return (
    <FormDialog
      form={form}
      title={category ? `Rename ${category.name}` : 'Add a category'}
      submit={category ? 'Rename' : 'Add'}
      opened={opened}
      onClose={onClose}
    >
      {category && category.active_listings > 0 && (
        <Text size="sm">Its {category.active_listings} active listings follow, and partners are told.</Text>
      )}
      <TextInput label="Name" data-autofocus {...form.text('name')} />
    </FormDialog>
  )
}
