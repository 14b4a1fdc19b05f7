import { test } from '@playwright/test'
import { signIn } from './admin.ts'
import { startService, type Service } from './service.ts'

/** Starts a service for all tests of a file, which can use what this returns. */
export function withService(settings?: Record<string, string>): Service {
  const service = {} as Service
  test.beforeAll(async () => {
    Object.assign(service, await startService(settings))
  })
  test.afterAll(() => service.stop?.())
  return service
}

/** The same; each test begins signed in. */
export function withSignedInService(): Service {
  const service = withService()
  test.beforeEach(({ page }) => signIn(page, service))
  return service
}
