import { Link } from '@tanstack/react-router'
import { translate } from '../language/translate.ts'
import { Icon } from '../parts/icons.tsx'
import classes from './navigation.module.css'
import { GROUPS, PAGES } from './pages.ts'

export function Navigation({ slug }: { slug: string }) {
  return (
    <>
      {GROUPS.map(({ id, label }) => (
        <section key={id} className={classes.group}>
          <h2 className={classes.title} id={`group-${id}`}>
            {translate(label)}
          </h2>
          <ul className={classes.list} aria-labelledby={`group-${id}`}>
            {PAGES.filter((page) => page.group === id).map((page) => (
              <li key={page.to}>
                <Link to={page.to} params={{ slug }} activeOptions={{ includeSearch: false }} className={classes.link}>
                  <Icon name={page.icon} />
                  {translate(page.label)}
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}
