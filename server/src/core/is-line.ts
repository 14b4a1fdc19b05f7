/** Whether the text has no control characters except line breaks and tabs, and at most `lengthMax` code points. */
export function isParagraph(text: string, lengthMax: number): boolean {
  return hasAtMost(text, lengthMax) && isLine(text.replaceAll(/[\n\t]/g, ' '), lengthMax)
}

/** Whether the text is one line: no control characters, and at most `lengthMax` code points. */
export function isLine(text: string, lengthMax: number): boolean {
  return hasAtMost(text, lengthMax) && text.isWellFormed() && !/\p{Cc}/u.test(text)
}

/** In code points. A cell of a file may have a hundred thousand, which are not taken apart to be counted. */
export function hasAtMost(text: string, lengthMax: number): boolean {
  return text.length <= 2 * lengthMax && [...text].length <= lengthMax
}
