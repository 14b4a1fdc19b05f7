/*
 * A spreadsheet runs a cell that begins with one of these as a formula (OWASP, CSV injection), so such text gets an
 * apostrophe in front: spreadsheets take it as the mark of plain text. Text that begins with apostrophes and one of
 * these gets one more, so that taking one away always gives back what was there.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
const NEUTRALISED = /^'+[=+\-@\t\r\n＝＋－＠]/

export function neutralise(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}

/** The text that was neutralised; other text as it is. */
export function restoreText(text: string): string {
  return NEUTRALISED.test(text) ? text.slice(1) : text
}
