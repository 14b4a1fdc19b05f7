import { type ChangeEvent, type ReactNode, useRef, useState } from 'react'
import { ApiError } from '../api.ts'

type Path<Values> = (keyof Values & string) | `${keyof Values & string}.${string}`
type Texts = Record<string, string>

interface Options<Values, Saved> {
  initial: Values
  /** Sends it. What it throws is shown: 422 beside the fields, everything else in an alert. */
  save: (values: Values) => Promise<Saved>
  onSaved?: (saved: Saved, values: Values) => void
  /** What can be said without asking the service: texts by field, empty when all is well. */
  check?: (values: Values) => Texts
}

type InputEvent = ChangeEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>

/**
 * The state of one form. Names are those of the body that is sent, nested ones with dots ('slips.3.hours'), so that the
 * service's field errors find their field.
 */
export function useForm<Values extends object, Saved = unknown>(options: Options<Values, Saved>) {
  const [values, setValues] = useState(options.initial)
  const [errors, setErrors] = useState<Texts>({})
  const [failure, setFailure] = useState<unknown>()
  const [failures, setFailures] = useState(0)
  const [busy, setBusy] = useState(false)
  // Refs beside the state: a double click and the guard must see the truth of now, not of the last render.
  const sending = useRef(false)
  const latest = useRef(values)
  const baseline = useRef(JSON.stringify(options.initial))
  const shown = useRef(new Set<string>())

  const set = (path: Path<Values>, value: unknown) => {
    latest.current = withPath(latest.current, path.split('.'), value) as Values
    setValues(latest.current)
    setErrors(({ [path]: _gone, ...others }) => others)
  }
  const replace = (next: Values) => {
    latest.current = next
    baseline.current = JSON.stringify(next)
    setValues(next)
    setErrors({})
    setFailure(undefined)
  }
  const fail = (texts: Texts, error?: unknown) => {
    setErrors(texts)
    setFailure(error)
    setFailures((count) => count + 1)
  }
  const submit = async () => {
    if (sending.current) return
    const found = options.check?.(latest.current) ?? {}
    if (Object.keys(found).length > 0) return fail(found)
    sending.current = true
    setBusy(true)
    setFailure(undefined)
    setErrors({})
    const sent = latest.current
    try {
      const saved = await options.save(sent)
      baseline.current = JSON.stringify(sent)
      options.onSaved?.(saved, sent)
    } catch (error) {
      fail(error instanceof ApiError ? textsOf(error) : {}, error)
    } finally {
      sending.current = false
      setBusy(false)
    }
  }
  const isDirty = () => JSON.stringify(latest.current) !== baseline.current
  const bind = (path: Path<Values>): { name: string; error: ReactNode } => {
    shown.current.add(path)
    return { name: path, error: errors[path] }
  }

  return {
    values,
    busy,
    failure,
    /** Grows with every failed try: the form moves the focus then. */
    failures,
    errors,
    /** Errors whose field is not on the page; the alert lists them. */
    strayErrors: () => Object.entries(errors).filter(([field]) => !shown.current.has(field)),
    isDirty,
    set,
    /** Starts again from these values, as unchanged. */
    replace,
    /** Back to what the form was given. */
    reset: () => replace(options.initial),
    submit,
    /** For TextInput, Textarea, PasswordInput, NativeSelect. */
    text: (path: Path<Values>) => ({
      ...bind(path),
      value: String(atPath(values, path) ?? ''),
      onChange: (event: InputEvent) => set(path, event.currentTarget.value),
    }),
    /** For Checkbox and Switch. */
    checkbox: (path: Path<Values>) => ({
      ...bind(path),
      checked: Boolean(atPath(values, path)),
      onChange: (event: ChangeEvent<HTMLInputElement>) => set(path, event.currentTarget.checked),
    }),
    /** For what hands over its value: NumberInput, Select, MultiSelect, Checkbox.Group, Radio.Group. */
    value: <T>(path: Path<Values>) => ({
      ...bind(path),
      value: atPath(values, path) as T,
      onChange: (value: T) => set(path, value),
    }),
  }
}

export type FormState<Values extends object = Record<string, unknown>> = ReturnType<typeof useForm<Values>>

/** What fields need that are part of several forms: a form with more values will do. */
export type FormFields<Values extends object> = Pick<FormState<Values>, 'values' | 'text' | 'checkbox' | 'value'>

/** What `<Form>` needs to know of any form, whatever its values. */
export type AnyForm = Pick<
  FormState,
  'busy' | 'failure' | 'failures' | 'errors' | 'strayErrors' | 'isDirty' | 'submit' | 'reset'
>

function textsOf(error: ApiError): Texts {
  const texts: Texts = {}
  for (const { field, message } of error.fieldErrors) {
    if (field) texts[field] ??= message.charAt(0).toUpperCase() + message.slice(1)
  }
  return texts
}

function atPath(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((part, step) => (part as Record<string, unknown> | undefined)?.[step], values)
}

function withPath(part: unknown, [step, ...rest]: string[], value: unknown): unknown {
  if (step === undefined) return value
  const inner = withPath((part as Record<string, unknown> | undefined)?.[step], rest, value)
  if (Array.isArray(part)) return part.map((item, index) => (index === Number(step) ? inner : item))
  return { ...(part as object), [step]: inner }
}
