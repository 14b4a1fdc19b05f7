import { useEffect, useState } from 'react'

const POLL_MS = 5_000
const TIMEOUT_MS = 4_000

export type Readiness = 'checking' | 'ready' | 'not_ready' | 'unreachable'

/** The state of the service, asked again every few seconds while the page can be seen. */
export function useReadiness(): Readiness {
  const [readiness, setReadiness] = useState<Readiness>('checking')

  useEffect(() => {
    let mounted = true
    const check = async () => {
      if (document.hidden) return
      const answer = await askService()
      if (mounted) setReadiness(answer)
    }
    void check()
    const timer = setInterval(check, POLL_MS)
    document.addEventListener('visibilitychange', check)
    return () => {
      mounted = false
      clearInterval(timer)
      document.removeEventListener('visibilitychange', check)
    }
  }, [])

  return readiness
}

async function askService(): Promise<Readiness> {
  try {
    const response = await fetch('/readyz', { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
    return response.ok ? 'ready' : 'not_ready'
  } catch {
    return 'unreachable'
  }
}
