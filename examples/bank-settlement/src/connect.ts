import { Hourbank } from '@hourbank/client'

const DEFAULT_URL = 'http://127.0.0.1:3000'

/** An error that the user can fix. */
export class Refusal extends Error {}

export function connect(env: Record<string, string | undefined>): Hourbank {
  const {
    HOURBANK_URL: baseUrl = DEFAULT_URL,
    HOURBANK_CLIENT_ID: clientId,
    HOURBANK_CLIENT_SECRET: clientSecret,
  } = env
  if (!clientId || !clientSecret) {
    throw new Refusal(
      [
        'HOURBANK_CLIENT_ID and HOURBANK_CLIENT_SECRET are not set. Make credentials with:',
        '',
        '  npx hourbank community list',
        '  npx hourbank partner create --community SLUG --name "Bank" --scopes "users.read wallet.read wallet.write"',
        '',
        'and set both to what it prints:',
        '',
        '  export HOURBANK_CLIENT_ID=… HOURBANK_CLIENT_SECRET=…',
      ].join('\n'),
    )
  }
  return new Hourbank({ baseUrl, clientId, clientSecret, scope: ['users.read', 'wallet.read', 'wallet.write'] })
}
