import { type I18n, type Messages, i18n, setupI18n } from '@lingui/core'
import { readStored, store } from '../parts/stored.ts'
import { PSEUDO, type ShownLanguage, aboutLanguage, firstKnown } from './languages.ts'
import { needMessages, neededAreas } from './needed.ts'

const STORED_AS = 'hourbank-language'
const SHARED_AREA = 'shared'
/** Its catalogues are made from the sentences of the service; the ids are the reasons. */
export const REJECTIONS_AREA = 'rejections'

const loaded = new Map<string, Promise<Messages>>()
const watchers = new Set<() => void>()
let wanted: ShownLanguage = 'en'
let shown: ShownLanguage | undefined

/** The language on the screen. */
export function shownLanguage(): ShownLanguage {
  return shown ?? wanted
}

export function watchLanguage(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => watchers.delete(watcher)
}

/** Before anybody has signed in: the language that this browser showed last, else one that it asks for. */
export function startLanguage(): Promise<void> {
  return showLanguage(firstKnown([readStored(STORED_AS), ...navigator.languages]) ?? 'en')
}

/** The person's own choice, else the community's, else the browser's. */
export function chooseLanguage(own: string | null, community: string | null | undefined): Promise<void> {
  if (readStored(STORED_AS) === PSEUDO) return showLanguage(PSEUDO)
  return showLanguage(firstKnown([own, community, ...navigator.languages]) ?? 'en')
}

async function showLanguage(language: ShownLanguage): Promise<void> {
  wanted = language
  if (language === shown) return
  await loadMessages()
  // Another language may have been chosen while this one was loading.
  if (language !== wanted || language === shown) return
  shown = language
  const { dir, formats } = aboutLanguage(language)
  i18n.activate(language, formats)
  document.documentElement.lang = language
  document.documentElement.dir = dir
  store(STORED_AS, language)
  for (const watcher of watchers) watcher()
}

/** Loads what the files that are here need. */
export async function loadMessages(): Promise<void> {
  const language = wanted
  const areas = new Set([SHARED_AREA, ...neededAreas()])
  const catalogues = await Promise.all([...areas].map((area) => loadArea(language, area)))
  i18n.load(language, Object.assign({}, ...catalogues))
}

/** Before a rejection is shown in another language than English, for which the service has the words itself. */
export async function loadRejections(): Promise<void> {
  if (shownLanguage() === 'en') return
  needMessages(REJECTIONS_AREA)
  // Without them, for example after an update of the service, the words of the service are shown.
  await loadMessages().catch(() => {})
}

/** For a part of a page that is in another language than the rest, with what the files that are here need. */
export async function loadOtherLanguage(language: ShownLanguage): Promise<I18n> {
  const catalogues = await Promise.all(neededAreas().map((area) => loadArea(language, area)))
  const { formats } = aboutLanguage(language)
  return setupI18n({ locale: language, locales: formats, messages: { [language]: Object.assign({}, ...catalogues) } })
}

function loadArea(language: string, area: string): Promise<Messages> {
  const address = `${import.meta.env.BASE_URL}${import.meta.env.MESSAGES}/${language}/${area}.json`
  const known = loaded.get(address)
  if (known) return known
  const catalogue = fetchCatalogue(address)
  loaded.set(address, catalogue)
  // Asked for again after a failure.
  catalogue.catch(() => loaded.delete(address))
  return catalogue
}

async function fetchCatalogue(address: string): Promise<Messages> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(`${address} answered ${response.status}`)
  return response.json()
}
