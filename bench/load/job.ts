/** What the load generator is to send. */
export interface Job {
  port: number
  method: 'GET' | 'POST'
  /** In path and body, {member} becomes a random member's id and {unique} a text that was never sent before. */
  path: string
  body?: string
  contentType?: string
  /** One per partner: each connection belongs to one of them. */
  authorizations: string[]
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
  /** Of whole answers, head included. */
  answerBytes: number
  /** From the first request to the last answer, in Unix time. */
  span?: { fromMs: number; untilMs: number }
  latencyMs: { p50: number; p95: number; p99: number; max: number }
}
