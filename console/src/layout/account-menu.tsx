import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { errorText } from '../api.ts'
import { Icon } from '../parts/icons.tsx'
import { notify } from '../parts/notices.tsx'
import { signOut, useSession } from '../session.ts'
import { Dropdown, dropdownClasses as list } from './dropdown.tsx'
import classes from './header-button.module.css'
import { showShortcuts } from './shortcuts.tsx'

const SCHEMES: readonly [MantineColorScheme, string][] = [
  ['auto', 'Colours of the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

export function AccountMenu() {
  const { admin } = useSession()
  return (
    <Dropdown
      side="end"
      className={classes.button}
      label={`Account: ${admin.name}`}
      button={
        <>
          <Icon name="person" />
          <bdi className={classes.wide}>{admin.name}</bdi>
        </>
      }
    >
      <li className={list.note}>{admin.email}</li>
      <li>
        <Link to="/account" className={list.item}>
          Account and sessions
        </Link>
      </li>
      <li>
        <button type="button" className={list.item} onClick={showShortcuts}>
          Keyboard shortcuts
        </button>
      </li>
      <li className={list.line} aria-hidden="true" />
      <SchemeChoice />
      <li className={list.line} aria-hidden="true" />
      <li>
        <button type="button" className={list.item} onClick={() => void leave()}>
          Sign out
        </button>
      </li>
    </Dropdown>
  )
}

function leave(): Promise<void> {
  return signOut().catch((error: unknown) => notify(errorText(error)))
}

function SchemeChoice() {
  // Without `keepTransitions` Mantine adds a style element that has no nonce.
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  return SCHEMES.map(([scheme, label]) => (
    <li key={scheme}>
      <button
        type="button"
        className={list.item}
        aria-pressed={colorScheme === scheme}
        onClick={() => setColorScheme(scheme)}
      >
        {colorScheme === scheme ? <Icon name="check" /> : <span className={list.gap} />}
        {label}
      </button>
    </li>
  ))
}
