import { I18nProvider, useLingui } from '@lingui/react'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { formatLocale } from './formats.ts'
import { loadOtherLanguage, shownLanguage } from './language.ts'
import { type ShownLanguage, aboutLanguage } from './languages.ts'

interface Props {
  language: ShownLanguage
  /** Until its texts are here. */
  waiting: ReactNode
  children: ReactNode
}

/** A part of a page in a language of its own. Within it, texts and formats come from `useLingui` and `useFormats`. */
export function InLanguage({ language, waiting, children }: Props) {
  const isOther = language !== shownLanguage()
  const { data } = useQuery({
    queryKey: ['messages', language],
    queryFn: () => loadOtherLanguage(language),
    enabled: isOther,
    staleTime: Infinity,
  })
  if (isOther && !data) return waiting
  const part = (
    <div lang={language} dir={aboutLanguage(language).dir}>
      {children}
    </div>
  )
  return data && isOther ? <I18nProvider i18n={data}>{part}</I18nProvider> : part
}

/** The locale of numbers and days of this part of the page. */
export function useFormats(): string {
  return formatLocale(useLingui().i18n.locale as ShownLanguage)
}
