// `npm run messages`: brings the catalogues up to date with the code and lists what is left to translate.
import { relative } from 'node:path'
import { TRANSLATED, catalogueFile, catalogueFiles, readTranslations, writeTranslations } from './catalogues.ts'
import { extractMessages } from './extract.ts'

const SHOWN_MAX = 20

const areas = await extractMessages()
let missing = 0
for (const language of TRANSLATED) {
  const known = await readAll(language)
  for (const area of new Set([...areas.keys(), ...(await catalogueFiles(language))])) {
    const messages = [...(areas.get(area)?.values() ?? [])]
    const translations = new Map([...known, ...(await readTranslations(language, area))])
    // A text that another area has translated already starts with that translation.
    for (const [id, text] of known) if (!translations.get(id)) translations.set(id, text)
    await writeTranslations(language, area, messages, translations)
    const untranslated = messages.filter(({ id }) => !translations.get(id))
    missing += untranslated.length
    if (untranslated.length === 0) continue
    console.log(`\n${relative(process.cwd(), catalogueFile(language, area))} lacks:`)
    for (const { message } of untranslated.slice(0, SHOWN_MAX)) console.log(`  ${message}`)
    if (untranslated.length > SHOWN_MAX) console.log(`  and ${untranslated.length - SHOWN_MAX} more`)
  }
}
console.log(missing === 0 ? 'Every message is translated.' : `\n${missing} translations are missing.`)

async function readAll(language: string): Promise<Map<string, string>> {
  const all = new Map<string, string>()
  for (const area of await catalogueFiles(language)) {
    for (const [id, text] of await readTranslations(language, area)) if (text) all.set(id, text)
  }
  return all
}
