import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'

type AnchorAttributes = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'color' | 'style'>
type WithRef = { ref?: Ref<HTMLAnchorElement> }

/** A link within the console that looks like text: `<LinkText to="/$slug/members" params={{ slug }}>`. */
export const LinkText = createLink((props: AnchorProps & AnchorAttributes & WithRef) => <Anchor {...props} />)

/** A link within the console that looks like a button. What changes something is a `Button`, never this. */
export const LinkButton = createLink((props: ButtonProps & AnchorAttributes & WithRef) => (
  <Button component="a" {...props} />
))
