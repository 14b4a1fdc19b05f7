import { ApiError } from './errors.ts'

/** Parses application/x-www-form-urlencoded strictly: a repeated name or a malformed escape is an error. */
export function parseForm(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const [name, value] = splitOnce(pair, '=').map(decodeFormPart) as [string, string]
    if (name in fields) throw new ApiError('invalid_request', { description: 'A parameter is repeated.' })
    fields[name] = value
  }
  return fields
}

export function decodeFormPart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw new ApiError('invalid_request', { description: 'A percent-encoded parameter is malformed.', cause })
  }
}

export function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}
