#!/usr/bin/env node
// `npx hourbank listen`, for projects that have installed the SDK.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { runListenCommand } from '../dist/index.js'

const USAGE = `hourbank listen --forward-to URL [--url URL] [--secret whsec_…] [--all]

Posts each event, signed like a webhook, to an address on your machine.

  --forward-to URL  your receiver, such as http://localhost:3000/hooks
  --url URL         the service; otherwise HOURBANK_URL
  --secret TEXT     signs the events; otherwise a new one is printed
  --all             also forwards the events of the last 30 days

The credentials are HOURBANK_CLIENT_ID, and HOURBANK_CLIENT_SECRET or HOURBANK_PRIVATE_KEY_FILE (a PEM file).
`
const USAGE_ERROR = 2

process.exitCode = await main(process.argv.slice(2))

async function main([command, ...args]) {
  const { HOURBANK_URL, HOURBANK_CLIENT_ID, HOURBANK_CLIENT_SECRET, HOURBANK_PRIVATE_KEY_FILE: keyFile } = process.env
  const values = command === 'listen' ? readOptions(args) : undefined
  const baseUrl = values?.url ?? HOURBANK_URL
  if (!values?.['forward-to'] || !baseUrl || !HOURBANK_CLIENT_ID || !(HOURBANK_CLIENT_SECRET || keyFile)) {
    process.stderr.write(USAGE)
    return USAGE_ERROR
  }
  const end = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end.abort())
  try {
    const settings = {
      baseUrl,
      clientId: HOURBANK_CLIENT_ID,
      ...(keyFile ? { privateKey: readFileSync(keyFile, 'utf8') } : { clientSecret: HOURBANK_CLIENT_SECRET }),
      forwardTo: values['forward-to'],
      secret: values.secret,
      includePast: values.all,
    }
    await runListenCommand(settings, (line) => process.stdout.write(`${line}\n`), end.signal)
    return 0
  } catch (error) {
    process.stderr.write(`${error.message}\n`)
    return 1
  }
}

function readOptions(args) {
  const text = { type: 'string' }
  try {
    const options = { 'forward-to': text, url: text, secret: text, all: { type: 'boolean' } }
    return parseArgs({ args, options }).values
  } catch (error) {
    process.stderr.write(`${error.message}\n\n`)
    return undefined
  }
}
