import { readFile } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { Refusal } from '../core/refusal.ts'
import { checkAuthentication, type Authentication } from '../features/partners/check-authentication.ts'
import type { NewCredentials } from '../features/partners/create-client.ts'
import { optionalText, type CommandInput } from './command.ts'

/** Reads `--public-key FILE` or `--jwks-url URL`. */
export async function readAuthentication(config: Config, values: CommandInput['values']): Promise<Authentication> {
  const file = optionalText(values, 'public-key')
  const jwksUrl = optionalText(values, 'jwks-url')
  const publicKey = file === undefined ? undefined : await readKeyFile(file)
  return checkAuthentication({ publicKey, jwksUrl }, config.webhookAllowPrivateTargets)
}

export async function readKeyFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new Refusal(`The file ${path} cannot be read.`, { cause })
  }
}

export function describeCredentials(
  { clientId, clientSecret, scopes }: NewCredentials<string | undefined> & { scopes: string[] },
  authentication: Authentication,
): string[] {
  return [
    ...(clientSecret ? ['The secret is shown only once:'] : []),
    `  client_id      ${clientId}`,
    ...(clientSecret ? [`  client_secret  ${clientSecret}`] : []),
    ...(authentication.kind === 'keys' ? [`  public key     ${authentication.key.thumbprint}`] : []),
    ...(authentication.kind === 'jwks' ? [`  keys at        ${authentication.jwksUrl}`] : []),
    `  scopes         ${scopes.join(' ')}`,
  ]
}
