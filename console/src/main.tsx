import { i18n } from '@lingui/core'
import { I18nProvider } from '@lingui/react'
import { DirectionProvider, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import { connectApi } from './api.ts'
import { watchConnection, whenConnected } from './connection.ts'
import { shownLanguage, startLanguage, watchLanguage } from './language/language.ts'
import { aboutLanguage } from './language/languages.ts'
import { nonce } from './nonce.ts'
import { freshProof, sessionEnded } from './questions.ts'
import { router } from './router.tsx'
import { lastAdminId, queryClient } from './session.ts'
import { colorSchemeManager, cssVariablesResolver, theme } from './theme.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

connectApi({
  shownAdmin: lastAdminId,
  signInAgain: sessionEnded.ask,
  proveAgain: freshProof.ask,
  passwordChangeRequired: () => void router.navigate({ to: '/password' }),
  secondFactorRequired: () => void router.navigate({ to: '/account' }),
})
watchConnection()

function Console() {
  const language = useSyncExternalStore(watchLanguage, shownLanguage)
  return (
    <I18nProvider i18n={i18n}>
      <DirectionProvider key={language} initialDirection={aboutLanguage(language).dir} detectDirection={false}>
        <MantineProvider
          theme={theme()}
          cssVariablesResolver={cssVariablesResolver}
          colorSchemeManager={colorSchemeManager}
          defaultColorScheme="auto"
          getStyleNonce={() => nonce}
        >
          <QueryClientProvider client={queryClient}>
            <RouterProvider router={router} />
          </QueryClientProvider>
        </MantineProvider>
      </DirectionProvider>
    </I18nProvider>
  )
}

async function start(place: HTMLElement): Promise<void> {
  await whenConnected(startLanguage)
  createRoot(place).render(
    <StrictMode>
      <Console />
    </StrictMode>,
  )
}

void start(root)
