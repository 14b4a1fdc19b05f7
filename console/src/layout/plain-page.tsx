import type { ReactNode } from 'react'
import { PageHeader } from '../parts/page-header.tsx'
import { Panel } from '../parts/panel.tsx'
import classes from './plain-page.module.css'

interface Props {
  title: string
  description?: ReactNode
  children: ReactNode
  /** Below the panel. */
  after?: ReactNode
}

/** A page without navigation: sign-in and what leads to it. */
export function PlainPage({ title, description, children, after }: Props) {
  return (
    <main id="main" tabIndex={-1} className={classes.page}>
      <div className={classes.brand}>
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width="36" height="36" />
        <span>Hourbank</span>
      </div>
      <PageHeader title={title} description={description} />
      <Panel>{children}</Panel>
      {after && <div className={classes.after}>{after}</div>}
    </main>
  )
}
