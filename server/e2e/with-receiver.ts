import { test } from '@playwright/test'
import { signIn } from './admin.ts'
import { startReceiver, type Receiver } from './receiver.ts'
import { startService, type Service } from './service.ts'

export interface Started {
  service: Service
  receiver: Receiver
}

/** Starts a receiver and a service that delivers to it, for all tests of a file. Each test begins signed in. */
export function withReceiver(onStarted: (started: Started) => void): void {
  let service: Service | undefined
  let receiver: Receiver | undefined
  test.beforeAll(async () => {
    receiver = await startReceiver()
    service = await startService(receiver.settings)
    onStarted({ service, receiver })
  })
  test.afterAll(async () => {
    await service?.stop()
    await receiver?.close()
  })
  test.beforeEach(({ page }) => signIn(page, service!))
}
