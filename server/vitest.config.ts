import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/database.ts',
    setupFiles: 'test/record-statements.ts',
    // A machine that does three other things at once is slow, not wrong; what hangs is found all the same.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 3,
    // Files share a worker's modules: loading them again for each file took as much CPU as the tests themselves.
    isolate: false,
  },
})
