/*
 * Spreadsheets run a cell that starts with one of these characters as a formula (OWASP, CSV injection). Such text is
 * prefixed with an apostrophe, which spreadsheets read as the mark of plain text. Text with apostrophes before one of
 * these characters gets one more, so that removing one always restores the original.
 *
 * Some spreadsheets split lines at another delimiter than the file's. They see quotes in the middle of a cell, which then
 * do not count: a cell may start after any delimiter or line break, and a few quotes.
 */
const START = String.raw`(?<=^|[;,\t\r\n]"{0,4})`
const CHARACTER = String.raw`[=+\-@\t\r\n＝＋－＠]`
const FORMULA = new RegExp(`${START}'*${CHARACTER}`, 'g')
const NEUTRALISED = new RegExp(`${START}'('*${CHARACTER})`, 'g')

export function neutralise(text: string): string {
  return text.replaceAll(FORMULA, "'$&")
}

/** Reverts `neutralise`; returns other text unchanged. */
export function restoreText(text: string): string {
  return text.replaceAll(NEUTRALISED, '$1')
}
