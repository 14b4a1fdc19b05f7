import { type ChangeEvent, type ReactNode, useRef, useState } from 'react'
import { ApiError } from '../api.ts'
import { rejectionText } from '../language/rejections.ts'
import { readAgainIfChanged } from '../reading.ts'
import { newRequestKey } from '../request-key.ts'
import { atPath, changedFields, errorsThatStay, mergeValues, withPath, type ChangedField } from './form-values.ts'

type Path<Values> = (keyof Values & string) | `${keyof Values & string}.${string}`
type Texts = Record<string, string>

/** What a form was filled with, and the version of the record that it came from. */
interface Source<Values> {
  values: Values
  version: string
}

/** For what must not overwrite or repeat anything. */
interface Sending<Values> {
  /** What the form started from: only what differs needs to be sent. */
  before: Values
  version: string | undefined
  /** The same until it is saved, so that a save sent again after a lost answer happens once. */
  key: string
}

interface Options<Values, Saved> {
  initial: Values
  /** Of the record that `initial` came from, for a form that changes one. */
  version?: string
  /** Reads the record again after somebody else changed it. */
  reread?: () => Promise<Source<Values>>
  /** Sends it. What it throws is shown: 422 beside the fields, everything else in an alert. */
  save: (values: Values, sending: Sending<Values>) => Promise<Saved>
  onSaved?: (saved: Saved, values: Values) => void
  /** Checks that need no request: a message per invalid field, empty if all are valid. */
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
  const locked = useRef(false)
  const latest = useRef(values)
  const source = useRef({ values: options.initial, version: options.version })
  const key = useRef(newRequestKey())
  const [changedByOthers, setChangedByOthers] = useState<ChangedField[]>([])
  const shown = useRef(new Set<string>())
  const lookups = useRef(new Set<Promise<void>>())

  const set = (path: Path<Values>, value: unknown) => {
    // What is typed while the form is being saved is not part of it, and would be gone after it.
    if (locked.current) return
    const before = latest.current
    const after = withPath(before, path.split('.'), value) as Values
    latest.current = after
    setValues(after)
    setErrors(({ [path]: _gone, ...others }) => errorsThatStay(others, before, after))
  }
  const replace = (next: Values, version?: string) => {
    latest.current = next
    source.current = { values: next, version }
    key.current = newRequestKey()
    setValues(next)
    setErrors({})
    setFailure(undefined)
    setChangedByOthers([])
  }
  /** Takes over what somebody else changed, except where the person at this form changed it too. */
  const merge = (theirs: Source<Values>) => {
    const { values: before } = source.current
    setChangedByOthers(changedFields(before, latest.current, theirs.values))
    latest.current = mergeValues(before, latest.current, theirs.values)
    source.current = theirs
    setValues(latest.current)
  }
  const fail = (texts: Texts, error?: unknown) => {
    setErrors(texts)
    setFailure(error)
    setFailures((count) => count + 1)
  }
  const save = (sent: Values) =>
    options.save(sent, { before: source.current.values, version: source.current.version, key: key.current })
  /** Once more if what somebody else changed is not in this form, such as the status beside the details. */
  const saveUnlessChanged = async (sent: Values): Promise<Saved> => {
    try {
      return await save(sent)
    } catch (error) {
      const theirs = isConflict(error) && (await rereadIfPossible())
      if (!theirs) throw error
      const isInForm = changedFields(source.current.values, sent, theirs.values).length > 0
      merge(theirs)
      if (isInForm) throw error
      return save(sent)
    }
  }
  /** If that fails too, the conflict itself is what is shown. */
  const rereadIfPossible = async (): Promise<Source<Values> | undefined> => {
    try {
      return await options.reread?.()
    } catch {
      return undefined
    }
  }
  const submit = async () => {
    if (sending.current) return
    sending.current = true
    setBusy(true)
    await Promise.all(lookups.current)
    locked.current = true
    const sent = latest.current
    try {
      const found = options.check?.(sent) ?? {}
      if (Object.keys(found).length > 0) return fail(found)
      setFailure(undefined)
      setErrors({})
      const saved = await saveUnlessChanged(sent)
      source.current = { values: sent, version: versionOf(saved) ?? source.current.version }
      key.current = newRequestKey()
      setChangedByOthers([])
      options.onSaved?.(saved, sent)
    } catch (error) {
      if (!options.reread) readAgainIfChanged(error)
      fail(error instanceof ApiError ? textsOf(error) : {}, error)
    } finally {
      sending.current = false
      locked.current = false
      setBusy(false)
    }
  }
  const isDirty = () => JSON.stringify(latest.current) !== JSON.stringify(source.current.values)
  const bind = (path: Path<Values>): { name: string; error: ReactNode } => {
    shown.current.add(path)
    return { name: path, error: errors[path] }
  }
  const bindText = (path: Path<Values>) => ({
    ...bind(path),
    value: String(atPath(values, path) ?? ''),
    onChange: (event: InputEvent) => set(path, event.currentTarget.value),
  })
  const bindGroup = <T>(path: Path<Values>) => ({
    error: bind(path).error,
    value: atPath(values, path) as T,
    onChange: (value: T) => set(path, value),
  })
  const bindValue = <T>(path: Path<Values>) => ({ ...bind(path), ...bindGroup<T>(path) })

  return {
    values,
    busy,
    failure,
    /** Grows with every failed try: the form moves the focus then. */
    failures,
    errors,
    /** After a save that would have overwritten them. */
    changedByOthers,
    /** Errors whose field is not on the page; the alert lists them. */
    strayErrors: () => Object.entries(errors).filter(([field]) => !shown.current.has(field)),
    isDirty,
    set,
    /** Starts again from these values, as unchanged, and with a new key. */
    replace,
    /** Back to what the form was given. */
    reset: () => replace(options.initial, options.version),
    submit,
    /** Shown as after a failed save. */
    reject: (texts: Texts) => fail(texts),
    /** For TextInput, Textarea, PasswordInput. Read-only while it is saved: `set` would ignore what is typed. */
    text: (path: Path<Values>) => ({ ...bindText(path), readOnly: busy }),
    /** For NativeSelect. */
    select: bindText,
    /** For Checkbox and Switch. */
    checkbox: (path: Path<Values>) => ({
      ...bind(path),
      checked: Boolean(atPath(values, path)),
      onChange: (event: ChangeEvent<HTMLInputElement>) => set(path, event.currentTarget.checked),
    }),
    /** For what hands over its value: Select, MultiSelect, Radio.Group. */
    value: bindValue,
    /** For Checkbox.Group, which takes no name. */
    group: bindGroup,
    /** Its error is shown by the page, although it is of no single field, such as that of a whole row. */
    showError: (path: Path<Values>) => bind(path).error,
    /** For what finds its value by what was typed: the form is not sent before. */
    lookup: <T>(path: Path<Values>) => ({
      ...bindValue<T>(path),
      onLookup: (lookup: Promise<void>) => {
        lookups.current.add(lookup)
        void lookup.finally(() => lookups.current.delete(lookup))
      },
    }),
  }
}

export type FormState<Values extends object = Record<string, unknown>> = ReturnType<typeof useForm<Values>>

/** What fields need that are part of several forms: a form with more values will do. */
export type FormFields<Values extends object> = Pick<
  FormState<Values>,
  'values' | 'text' | 'checkbox' | 'value' | 'group'
>

/** What `<Form>` needs to know of any form, whatever its values. */
export type AnyForm = Pick<
  FormState,
  | 'busy'
  | 'failure'
  | 'failures'
  | 'errors'
  | 'changedByOthers'
  | 'strayErrors'
  | 'isDirty'
  | 'submit'
  | 'reject'
  | 'reset'
>

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'changed_meanwhile'
}

function versionOf(saved: unknown): string | undefined {
  const { version } = (saved ?? {}) as { version?: unknown }
  return typeof version === 'string' ? version : undefined
}

function textsOf(error: ApiError): Texts {
  const texts: Texts = {}
  for (const one of error.fieldErrors) {
    const text = rejectionText(one)
    if (one.field) texts[one.field] ??= text.charAt(0).toUpperCase() + text.slice(1)
  }
  return texts
}
