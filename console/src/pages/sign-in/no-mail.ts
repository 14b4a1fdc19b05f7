import { t } from '@lingui/core/macro'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api.ts'
import type { SetupState } from '../../wire.ts'

export function useSetupState() {
  return useQuery({
    queryKey: ['setup'],
    queryFn: ({ signal }) => api.get<SetupState>('/setup', { signal, signedOut: true }),
  })
}

/** The way to a new password on a service that sends no mail. */
export function resetWithoutMail(): string {
  return t`The operator of the service can reset it on the command line. If it has only one community, an owner can give you a one-time link.`
}
