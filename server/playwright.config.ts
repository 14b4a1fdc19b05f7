import { defineConfig } from '@playwright/test'
import { findProgram } from '../scripts/system-packages.mjs'

const executablePath = findProgram('chromium')
if (!executablePath) throw new Error('No Chromium found: run npm test, or set CHROMIUM_PATH.')

export default defineConfig({
  testDir: 'e2e',
  globalSetup: './e2e/prepare-data.ts',
  forbidOnly: true,
  // A test that needs a second try is broken.
  retries: 0,
  // Each file has a service of its own.
  workers: 2,
  // A machine that does three other things at once is slow, not wrong.
  timeout: 600_000,
  expect: { timeout: 60_000, toPass: { timeout: 60_000 } },
  use: {
    browserName: 'chromium',
    // A failure comes with its picture and the text of its page. A trace (`--trace on`) takes a fifth more time.
    screenshot: 'only-on-failure',
    launchOptions: {
      executablePath,
      // Chromium refuses to run sandboxed as root; Playwright's own default is no sandbox for anyone.
      chromiumSandbox: process.getuid?.() !== 0,
      // The browser itself stays off the network: the tests check that the pages do.
      args: [
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-quic',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
})
