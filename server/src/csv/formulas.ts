/*
 * Spreadsheets run a cell that starts with one of these characters as a formula (OWASP, CSV injection). Such text is
 * prefixed with an apostrophe, which spreadsheets read as the mark of plain text. Text that starts with apostrophes
 * followed by one of these characters gets one more, so that removing one always restores the original.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
const NEUTRALISED = /^'+[=+\-@\t\r\n＝＋－＠]/

export function neutralise(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** Reverts `neutralise`; returns other text unchanged. */
export function restoreText(text: string): string {
  return NEUTRALISED.test(text) ? text.slice(1) : text
}
