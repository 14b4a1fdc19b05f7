/** A cell is shown so that people recognize it, not to be read. No identifier and no name is longer. */
export const SHOWN_LENGTH_MAX = 200

export function shortenCell(text: string): string {
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX).toWellFormed()}…` : text
}
