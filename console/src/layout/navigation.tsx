import { Link } from '@tanstack/react-router'
import { Icon } from '../parts/icons.tsx'
import classes from './navigation.module.css'
import { GROUPS, PAGES } from './pages.ts'

export function Navigation({ slug }: { slug: string }) {
  return (
    <>
      {GROUPS.map((group) => (
        <section key={group} className={classes.group}>
          <h2 className={classes.title} id={`group-${group}`}>
            {group}
          </h2>
          <ul className={classes.list} aria-labelledby={`group-${group}`}>
            {PAGES.filter((page) => page.group === group).map((page) => (
              <li key={page.to}>
                <Link to={page.to} params={{ slug }} activeOptions={{ includeSearch: false }} className={classes.link}>
                  <Icon name={page.icon} />
                  {page.label}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}
