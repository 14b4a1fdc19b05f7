type Params = Record<string, unknown>

/** Plain `name=text`, as people read and write it: the router's own way would put quotes around a text of digits. */
export function readSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search))
}

export function writeSearch(params: Params): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return text ? `?${text}` : ''
}

/** What a page's address may carry: texts by these names, everything else is dropped. */
export function texts<Name extends string>(...names: Name[]): (search: Params) => { [name in Name]?: string } {
  return (search) => {
    const kept: { [name in Name]?: string } = {}
    for (const name of names) {
      const value = search[name]
      if (typeof value === 'string' && value !== '') kept[name] = value
    }
    return kept
  }
}
