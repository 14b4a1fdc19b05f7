import type { CallOptions, TestPartner } from './bank.ts'

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** The header of RFC 7617, exactly as given; see `formEncode` for what RFC 6749 asks beside it. */
export function basic(id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
}

export function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

export function credentials({ clientId, clientSecret }: TestPartner) {
  return { client_id: clientId, client_secret: clientSecret }
}

/** A request for a token that succeeds, but for what the test changes. */
export function tokenRequest(partner: TestPartner, change: Record<string, unknown> = {}): CallOptions {
  return { body: { grant_type: 'client_credentials', ...credentials(partner), ...change } }
}

/** As a proxy in front says it; the node must trust 127.0.0.1. */
export function from(address: string): Record<string, string> {
  return { 'x-forwarded-for': address }
}

export const BEHIND_PROXY = { config: { trustProxy: ['127.0.0.1'] } }
