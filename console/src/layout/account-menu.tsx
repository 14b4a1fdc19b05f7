import { msg, t } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { Trans } from '@lingui/react/macro'
import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { shownLanguage } from '../language/language.ts'
import { PSEUDO } from '../language/languages.ts'
import { Icon } from '../parts/icons.tsx'
import { translate } from '../language/translate.ts'
import { signOut, useSession } from '../session.ts'
import { Dropdown, dropdownClasses as list } from './dropdown.tsx'
import classes from './header-button.module.css'
import { showShortcuts } from './shortcuts.tsx'

const SCHEMES: readonly [MantineColorScheme, MessageDescriptor][] = [
  ['auto', msg`Colours of the system`],
  ['light', msg`Light`],
  ['dark', msg`Dark`],
]

export function AccountMenu() {
  const { admin } = useSession()
  return (
    <Dropdown
      side="end"
      className={classes.button}
      label={t`Account: ${admin.name}`}
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
          <Trans>Account and sessions</Trans>
        </Link>
      </li>
      <li>
        <a href={guideAddress()} target="_blank" rel="noreferrer" className={list.item}>
          <Trans>Guide for administrators</Trans>
        </a>
      </li>
      <li>
        <button type="button" className={list.item} onClick={showShortcuts}>
          <Trans>Keyboard shortcuts</Trans>
        </button>
      </li>
      <li className={list.line} aria-hidden="true" />
      <SchemeChoice />
      <li className={list.line} aria-hidden="true" />
      <li>
        <button type="button" className={list.item} onClick={() => void signOut()}>
          <Trans>Sign out</Trans>
        </button>
      </li>
    </Dropdown>
  )
}

/** In the language on the screen. */
function guideAddress(): string {
  const language = shownLanguage()
  return `/docs/guides/administrators${language === 'en' || language === PSEUDO ? '' : `.${language}`}`
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
        {translate(label)}
      </button>
    </li>
  ))
}
