/** The requests that the load generator sends. */
export interface Job {
  port: number
  method: 'GET' | 'POST'
  /** In path and body, each {member} is replaced by a random member's id, and each {unique} by a text never sent before. */
  path: string
  body?: string
  contentType?: string
  /** One per partner; each connection uses one of them. */
  authorizations: string[]
  /** Of an administrator's session, instead of an authorization. */
  cookie?: string
  members: number[]
  expectedStatus: number
  connections: number
  warmUpMs: number
  measureMs: number
  /** Ends the job before its time. */
  requestsMax?: number
}

export interface Measured {
  perSecond: number
  count: number
  /** The size of complete responses, including the headers. */
  answerBytes: number
  /** From the first request to the last answer, in Unix time. */
  span?: { fromMs: number; untilMs: number }
  latencyMs: { p50: number; p95: number; p99: number; max: number }
}
