// `npm run messages`: brings the catalogues up to date with the code and lists what is left to translate.
import { TRANSLATED, catalogueFile, readTranslations, writeTranslations } from './catalogues.ts'
import { extractMessages } from './extract.ts'

const SHOWN_MAX = 20

const areas = await extractMessages()
let missing = 0
for (const language of TRANSLATED) {
  for (const [area, messages] of areas) {
    const translations = await readTranslations(language, area)
    await writeTranslations(language, area, messages.values(), translations)
    const untranslated = [...messages.values()].filter(({ id }) => !translations.get(id))
    missing += untranslated.length
    for (const { message } of untranslated.slice(0, SHOWN_MAX)) console.log(`${language}/${area}: ${message}`)
    if (untranslated.length > SHOWN_MAX) console.log(`and ${untranslated.length - SHOWN_MAX} more`)
    if (untranslated.length > 0) console.log(`Translate them in ${catalogueFile(language, area)}\n`)
  }
}
console.log(missing === 0 ? 'Every message is translated.' : `${missing} translations are missing.`)
