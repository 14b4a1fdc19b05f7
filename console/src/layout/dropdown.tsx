import { UnstyledButton } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import classes from './dropdown.module.css'

interface Props {
  /** What the button shows, and its name where that is only a picture. */
  button: ReactNode
  label?: string
  className?: string | undefined
  side: 'start' | 'end'
  /** Links and buttons, one below the other, as `<li>`. */
  children: ReactNode
}

/**
 * A button that opens a list of links. Of its own, because Mantine's menu brings 30 KB that every visitor would load
 * before the first page. It closes by Escape, by a click elsewhere, when the focus leaves, and with the page.
 */
export function Dropdown({ button, label, className, side, children }: Props) {
  const { pathname } = useLocation()
  const [openedOn, setOpenedOn] = useState<string>()
  const opened = openedOn === pathname
  const place = useRef<HTMLDivElement>(null)
  const target = useRef<HTMLButtonElement>(null)
  const id = useId()
  useEffect(() => {
    if (!opened) return
    const onPointer = (event: PointerEvent) => {
      if (!place.current?.contains(event.target as Node)) setOpenedOn(undefined)
    }
    document.addEventListener('pointerdown', onPointer)
    return () => document.removeEventListener('pointerdown', onPointer)
  }, [opened])
  return (
    <div
      ref={place}
      className={classes.place}
      onBlur={(event) => {
        if (event.relatedTarget && !place.current?.contains(event.relatedTarget)) setOpenedOn(undefined)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !opened) return
        setOpenedOn(undefined)
        target.current?.focus()
      }}
    >
      <UnstyledButton
        ref={target}
        className={className}
        aria-expanded={opened}
        aria-controls={id}
        {...(label ? { 'aria-label': label } : {})}
        onClick={() => setOpenedOn(opened ? undefined : pathname)}
      >
        {button}
      </UnstyledButton>
      <ul
        id={id}
        hidden={!opened}
        className={classes.list}
        data-side={side}
        // A link to the page that is shown closes it too.
        onClick={(event) => isOnLink(event) && setOpenedOn(undefined)}
      >
        {children}
      </ul>
    </div>
  )
}

export function isOnLink({ target }: MouseEvent): boolean {
  return target instanceof Element && target.closest('a') !== null
}

export { classes as dropdownClasses }
