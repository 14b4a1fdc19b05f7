#!/usr/bin/env node
import { existsSync } from 'node:fs'

const isThere = (path) => existsSync(new URL(path, import.meta.url))

if (!isThere('../dist/bundle/main.js') || !isThere('../../node_modules')) {
  console.error('Hourbank is not built yet: run npm start (or npm run build) first.')
  process.exitCode = 1
} else if (process.argv[2] === 'listen') {
  // A command for partners' developers, which speaks HTTP like them: it is part of the SDK.
  await import('../../client/bin/hourbank.js')
} else {
  await import('../dist/bundle/main.js')
}
