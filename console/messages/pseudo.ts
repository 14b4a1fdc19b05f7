const LONGER_BY = 0.4
const TAG = /(<\/?\d+\/?>)/
const PLAIN = 'AaCcEeIiNnOoSsUuYy'
const ACCENTED = 'ÅåÇçÉéÎîÑñÖöŠšÛûÝý'

/** English in disguise: text that stays plain on a page was never translated, and a layout must bear 40 % more. */
export function pseudoText(text: string): string {
  if (text.trim() === '') return text
  const accented = text
    .split(TAG)
    .map((part) => (TAG.test(part) ? part : [...part].map(accent).join('')))
    .join('')
  const letters = text.replaceAll(new RegExp(TAG, 'g'), '').trim().length
  const end = /\s*$/.exec(accented)?.[0] ?? ''
  return `${accented.trimEnd()}${'·'.repeat(Math.ceil(letters * LONGER_BY))}${end}`
}

function accent(letter: string): string {
  return ACCENTED[PLAIN.indexOf(letter)] ?? letter
}
