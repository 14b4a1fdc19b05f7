/** Whether the text has no control characters except line breaks and tabs, and at most `lengthMax` code points. */
export function isParagraph(text: string, lengthMax: number): boolean {
  return isLine(text.replaceAll(/[\n\t]/g, ' '), lengthMax)
}

/** Whether the text is one line: no control characters, and at most `lengthMax` code points. */
export function isLine(text: string, lengthMax: number): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text) && [...text].length <= lengthMax
}
