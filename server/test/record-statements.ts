import { appendFileSync } from 'node:fs'
import { Client } from 'pg'
import { statementsFile } from './check-statements.ts'

/** The service's own connections; tests look across communities. */
const OF_SERVICE = /^hourbank (?!.*test)/

interface Recording {
  connectionParameters: { application_name?: string }
}

/** Records every statement that the service's pools send in this worker, once each. */
function recordStatements(): void {
  const recorded = new Set<string>()
  const prototype = Client.prototype as { query: (this: Recording, ...args: any[]) => unknown; isRecorded?: true }
  // Files share a worker's modules, but this runs for each.
  if (prototype.isRecorded) return
  prototype.isRecorded = true
  const { query } = prototype
  prototype.query = function (this: Recording, ...args) {
    const text: unknown = typeof args[0] === 'string' ? args[0] : args[0]?.text
    const isOfService = OF_SERVICE.test(this.connectionParameters.application_name ?? '')
    if (typeof text === 'string' && isOfService && !recorded.has(text)) {
      recorded.add(text)
      appendFileSync(statementsFile(), `${JSON.stringify(text)}\n`)
    }
    return query.apply(this, args)
  }
}

recordStatements()
