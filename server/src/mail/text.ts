/** Names are chosen by others: they must not look like further lines of the mail. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 200)
}

export function paragraphs(...parts: string[]): string {
  return `${parts.join('\n\n')}\n`
}
