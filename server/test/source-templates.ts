/** All template literals of a source text, each with what is nested in it. */
export function readTemplates(source: string): string[] {
  const found: string[] = []
  function readTemplate(start: number): number {
    let at = start + 1
    while (at < source.length && source[at] !== '`') {
      if (source[at] === '\\') at += 2
      else if (source.startsWith('${', at)) at = readCode(at + 2, '}')
      else at += 1
    }
    found.push(source.slice(start + 1, at))
    return at + 1
  }
  /** Reads code up to the closing brace, or to the end; strings and comments hold no templates. */
  function readCode(start: number, end?: string): number {
    let at = start
    let depth = 0
    while (at < source.length) {
      const char = source[at]!
      const skipped = /^(\/\/.*|\/\*[^]*?\*\/|'(\\.|[^'\\\n])*'|"(\\.|[^"\\\n])*")/.exec(source.slice(at, at + 5000))
      if (skipped) at += skipped[0].length
      else if (char === '`') at = readTemplate(at)
      else if (char === end && depth === 0) return at + 1
      else {
        if (char === '{') depth += 1
        if (char === '}') depth -= 1
        at += 1
      }
    }
    return at
  }
  readCode(0)
  return found
}
