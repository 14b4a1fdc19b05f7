import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { connectApi } from './api.ts'
import { watchConnection } from './connection.ts'
import { nonce } from './nonce.ts'
import { freshProof, sessionEnded } from './questions.ts'
import { router } from './router.tsx'
import { queryClient } from './session.ts'
import { colorSchemeManager, cssVariablesResolver, theme } from './theme.ts'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

connectApi({
  signInAgain: sessionEnded.ask,
  proveAgain: freshProof.ask,
  passwordChangeRequired: () => void router.navigate({ to: '/password' }),
  secondFactorRequired: () => void router.navigate({ to: '/account' }),
})
watchConnection()

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      colorSchemeManager={colorSchemeManager}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
