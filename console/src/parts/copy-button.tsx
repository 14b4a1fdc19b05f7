import { t } from '@lingui/core/macro'
import { Button } from '@mantine/core'
import { useRef, useState } from 'react'
import { Icon } from './icons.tsx'
import { notify, notifyFailure } from './notices.tsx'

const CONFIRMED_MS = 2_500

/** Copies `value`; `what` names it for screen readers, as in 'Copy client id'. */
export function CopyButton({ value, what }: { value: string; what: string }) {
  const [copied, setCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const copy = async (button: HTMLElement) => {
    if (!(await copyText(value, button)))
      return notifyFailure(t`Copying is not allowed here: select the text and copy it yourself`)
    setCopied(true)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setCopied(false), CONFIRMED_MS)
    notify(t`Copied: ${what}`)
  }
  return (
    <Button
      variant="default"
      size="compact-sm"
      aria-label={t`Copy ${what}`}
      leftSection={<Icon name={copied ? 'check' : 'copy'} size={16} />}
      onClick={(event) => void copy(event.currentTarget)}
    >
      {copied ? t`Copied` : t`Copy`}
    </Button>
  )
}

/** On plain http (other than localhost) browsers have no clipboard API; the old command still works there. */
async function copyText(text: string, near: HTMLElement): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // Refused by the browser: the old way may still be allowed.
  }
  const area = document.createElement('textarea')
  area.value = text
  area.readOnly = true
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // Beside the button, because a dialog keeps the focus within itself.
  near.parentElement?.append(area)
  area.select()
  const done = document.execCommand('copy')
  area.remove()
  near.focus()
  return done
}
