// `npm start`. The service runs in this process, not in a child process, so that signals reach it directly.
import { fileURLToPath } from 'node:url'
import { prepare } from './prepare.mjs'
import { endOnFailure } from './run.mjs'

await endOnFailure(prepare)

const command = fileURLToPath(new URL('../server/bin/hourbank.js', import.meta.url))
process.argv = [process.execPath, command, 'serve', ...process.argv.slice(2)]
await import('../server/dist/bundle/main.js')
