import { msg, t } from '@lingui/core/macro'
import { Tabs } from '@mantine/core'
import { Suspense, useEffect, useRef } from 'react'
import { translate } from '../../language/translate.ts'
import { useFilters } from '../../parts/filter-bar.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { useCommunity } from '../../session.ts'
import classes from './community.module.css'
import { General } from './general.tsx'

const Categories = lazyPart(async () => (await import('./categories.tsx')).Categories)
const Administrators = lazyPart(async () => (await import('./administrators.tsx')).Administrators)
const PartnersView = lazyPart(async () => (await import('./partners-view.tsx')).PartnersView)

const PARTS = [
  { value: 'general', label: msg`General`, page: <General /> },
  { value: 'categories', label: msg`Categories`, page: <Categories /> },
  { value: 'administrators', label: msg`Administrators`, page: <Administrators /> },
  { value: 'partners', label: msg`What partners see`, page: <PartnersView /> },
]

export function CommunityPage() {
  const { name } = useCommunity()
  const [{ part = 'general' }, change] = useFilters<{ part?: string | undefined }>()
  const shown = PARTS.some(({ value }) => value === part) ? part : 'general'
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => showActiveTab(list.current), [shown])
  return (
    <>
      <PageHeader title={t`Settings`} description={name} />
      <Tabs
        value={shown}
        keepMounted={false}
        onChange={(value) => change({ part: value === null || value === 'general' ? undefined : value })}
      >
        <Tabs.List ref={list} mb="lg" aria-label={t`Settings`} className={classes.tabs}>
          {PARTS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {translate(label)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {PARTS.map(({ value, label, page }) => (
          <Tabs.Panel key={value} value={value}>
            <Suspense fallback={<Loading label={translate(label)} height={480} />}>{page}</Suspense>
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  )
}

/** On a phone not all tabs fit. Only the row moves, never the page; from the middle, in whichever direction it runs. */
function showActiveTab(list: HTMLElement | null): void {
  const tab = list?.querySelector('[aria-selected=true]')
  if (!list || !tab) return
  const [row, active] = [list.getBoundingClientRect(), tab.getBoundingClientRect()]
  list.scrollBy({ left: active.left + active.width / 2 - (row.left + row.width / 2) })
}
