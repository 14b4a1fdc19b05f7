import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Button, Group, List, Stack, Text } from '@mantine/core'
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { errorText, failedRequestId } from '../api.ts'
import { BusyButton } from './busy-button.tsx'
import { ChangedByOthers } from './changed-by-others.tsx'
import { Modal } from './dialog.tsx'
import classes from './form.module.css'
import { Icon } from './icons.tsx'
import { UnsavedGuard } from './unsaved-guard.tsx'
import type { AnyForm } from './use-form.ts'

interface Props {
  form: AnyForm
  /** What the button says: 'Save', 'Add partner'. */
  submit: string
  children: ReactNode
  /** Beside the button. */
  actions?: ReactNode
  danger?: boolean
  /** Off where leaving loses nothing worth asking about, such as a password. */
  guard?: boolean
}

/** Fields, the alert, the button. Fields take `{...form.text('name')}`; the rest is done here. */
export function Form({ form, submit, children, actions, danger = false, guard = true }: Props) {
  const element = useRef<HTMLFormElement>(null)
  useFocusOnFailure(form.failures, element)
  return (
    <form
      ref={element}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        const half = halfTypedDay(event.currentTarget)
        if (half) form.reject({ [half.name]: t`This is not a day.` })
        else void form.submit()
      }}
    >
      <Stack gap="md">
        <Failure form={form} element={element} />
        {children}
        <Group justify="flex-end" gap="sm" mt="xs" className={classes.buttons}>
          {actions}
          <BusyButton type="submit" loading={form.busy} {...(danger ? { color: 'red' } : {})}>
            {submit}
          </BusyButton>
        </Group>
      </Stack>
      {guard && <UnsavedGuard isUnsaved={form.isDirty} />}
    </form>
  )
}

/** To a script, a day such as 30 February looks like an empty field, and empty may mean something. */
function halfTypedDay(form: HTMLFormElement): HTMLInputElement | undefined {
  return [...form.querySelectorAll<HTMLInputElement>('input[type="date"]')].find(({ validity }) => validity.badInput)
}

/** The first wrong field takes the focus; if no field is wrong, the alert does. */
function useFocusOnFailure(failures: number, form: RefObject<HTMLFormElement | null>): void {
  // Before the button, which was disabled meanwhile, takes it back.
  useLayoutEffect(() => {
    if (failures === 0) return
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')
    const target = field ?? form.current?.querySelector<HTMLElement>('[role="alert"]')
    target?.focus()
  }, [failures, form])
}

function Failure({ form, element }: { form: AnyForm; element: RefObject<HTMLFormElement | null> }) {
  const stray = form.strayErrors()
  const isAboutFields = Object.keys(form.errors).length > stray.length
  if (form.failure === undefined && stray.length === 0) return null
  const requestId = failedRequestId(form.failure)
  return (
    <Alert color="red" variant="light" role="alert" tabIndex={-1} icon={<Icon name="warning" />}>
      <Text size="sm">{isAboutFields ? t`Not saved yet: look at the marked fields.` : errorText(form.failure)}</Text>
      <ChangedByOthers fields={form.changedByOthers} form={element.current} />
      {stray.length > 0 && (
        <List size="sm" mt={4}>
          {stray.map(([name, value]) => (
            <List.Item key={name}>
              <Trans>
                {name}: {value}
              </Trans>
            </List.Item>
          ))}
        </List>
      )}
      {!isAboutFields && requestId && (
        <Text size="xs" mt={4}>
          <Trans>Request {requestId}</Trans>
        </Text>
      )}
    </Alert>
  )
}

interface DialogProps extends Omit<Props, 'actions' | 'guard'> {
  title: string
  opened: boolean
  onClose: () => void
  size?: string
  /** Shown in place of the form as long as it could not be completed: what to do first. */
  instead?: ReactNode
}

/** A form in a dialog. Closing it with something typed asks first; a dialog opened again starts from the beginning. */
export function FormDialog({ title, opened, onClose, size = 'lg', form, instead, ...rest }: DialogProps) {
  const [asking, setAsking] = useState(false)
  const reset = useRef(form.reset)
  reset.current = form.reset
  useEffect(() => {
    if (opened) reset.current()
  }, [opened])
  const leave = () => {
    setAsking(false)
    form.reset()
    onClose()
  }
  const close = () => {
    if (form.busy) return
    if (form.isDirty()) setAsking(true)
    else leave()
  }
  return (
    <>
      <Modal opened={opened} onClose={close} title={title} size={size} closeOnClickOutside={false}>
        {instead || (
          <Form
            form={form}
            {...rest}
            actions={
              <Button variant="default" onClick={close}>
                <Trans>Cancel</Trans>
              </Button>
            }
          />
        )}
      </Modal>
      <Modal opened={asking} onClose={() => setAsking(false)} title={t`Discard what you typed?`} zIndex={300}>
        <Group justify="flex-end">
          <Button variant="default" onClick={leave}>
            <Trans>Discard</Trans>
          </Button>
          <Button data-autofocus onClick={() => setAsking(false)}>
            <Trans>Keep editing</Trans>
          </Button>
        </Group>
      </Modal>
    </>
  )
}
