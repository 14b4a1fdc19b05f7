#!/usr/bin/env node
import { existsSync } from 'node:fs'

const isThere = (path) => existsSync(new URL(path, import.meta.url))

if (isThere('../dist/main.js') && isThere('../../node_modules')) {
  await import('../dist/main.js')
} else {
  console.error('Hourbank is not built yet: run npm start (or npm run build) first.')
  process.exitCode = 1
}
