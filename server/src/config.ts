import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addressesOf } from './core/database-address.ts'
import { parseNetwork } from './core/networks.ts'
import { PROJECT } from './core/project.ts'

export type Role = 'all' | 'api' | 'worker'

/** Reports every mistake at once, so that an operator can fix all of them together. */
export class ConfigError extends Error {
  constructor(readonly mistakes: string[]) {
    super(`These settings are invalid:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`)
  }
}

type Parse<T> = (text: string) => T

const SECRET_KEY_LENGTH_MIN = 32
const WEB_CONCURRENCY_MAX = 64
const DATABASE_HOSTS_MAX = 8
const ON = ['on', 'true', '1']
const OFF = ['off', 'false', '0']

/** All settings: name, parser and default. Nothing else reads the environment. */
export const SETTINGS = {
  PORT: [integer(1, 65_535), 3000],
  HOST: [host, '127.0.0.1'],
  DATA_DIR: [(text: string) => resolve(text), fileURLToPath(new URL('.data', PROJECT))],
  DATABASE_URL: [databaseUrl, undefined],
  DATABASE_LISTEN_URL: [databaseUrl, undefined],
  DATABASE_REPLICA_URL: [databaseUrl, undefined],
  MIGRATION_DATABASE_URL: [databaseUrl, undefined],
  REPLACED_DATABASE_URL: [databaseUrl, undefined],
  PUBLIC_URL: [publicUrl, undefined],
  ALLOWED_HOSTS: [hosts, []],
  REDIS_URL: [url('redis:', 'rediss:'), undefined],
  SECRET_KEY: [secretKey, undefined],
  SECRET_KEY_PREVIOUS: [secretKey, undefined],
  CALL_LOG_DAYS: [integer(1, 3650), 90],
  ROLE: [oneOf('all', 'api', 'worker'), 'all'],
  WEB_CONCURRENCY: [integer(1, WEB_CONCURRENCY_MAX), 1],
  // Neither 'true' nor a number of hops: a client that reaches the port directly could then forge the address that
  // allowlists check.
  TRUST_PROXY: [networks('the addresses of the proxies in front, like 10.0.0.0/8, 192.0.2.7'), false],
  DEMO: [flag, undefined],
  WEBHOOK_ALLOW_PRIVATE_TARGETS: [flag, false],
  WEBHOOK_SOURCE_ADDRESSES: [networks('addresses or ranges, like 192.0.2.7, 2001:db8::/32'), []],
  LOG_LEVEL: [oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info'],
  METRICS_TOKEN: [metricsToken, undefined],
  SMTP_URL: [url('smtp:', 'smtps:'), undefined],
  MAIL_FROM: [mailFrom, undefined],
  SECURITY_CONTACT: [securityContact, undefined],
  API_CONTACT: [apiContact, undefined],
  OTEL_EXPORTER_OTLP_ENDPOINT: [url('http:', 'https:'), undefined],
  OTEL_TRACES_SAMPLER_ARG: [ratio, 1],
} as const satisfies Record<string, readonly [parse: Parse<unknown>, fallback: unknown]>

type Settings = {
  [Name in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[Name][0]> | (typeof SETTINGS)[Name][1]
}

export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** Undefined means the embedded database under dataDir. */
  readonly databaseUrl: string | undefined
  readonly listenUrl: string | undefined
  /** A copy of the database, for reads of the console that may lag. */
  readonly replicaUrl: string | undefined
  /** The same database, as the role that owns its tables; undefined if the service's own role does. */
  readonly migrationUrl: string | undefined
  /** The database that a restore replaces. */
  readonly replacedDatabaseUrl: string | undefined
  /** The base URL that partners use; also the OAuth issuer. */
  readonly publicUrl: string
  /** Whether PUBLIC_URL is set; otherwise publicUrl is an address of this machine. */
  readonly hasPublicUrl: boolean
  /** Host names besides that of publicUrl. */
  readonly allowedHosts: readonly string[]
  readonly redisUrl: string | undefined
  readonly secretKey: string | undefined
  readonly previousSecretKey: string | undefined
  readonly callLogDays: number
  readonly role: Role
  readonly webConcurrency: number
  /** The proxies whose X-Forwarded-For header is trusted. */
  readonly trustProxy: false | string[]
  readonly demo: boolean
  readonly webhookAllowPrivateTargets: boolean
  /** The addresses from which deliveries come, for the guides. The service cannot know: there may be gateways. */
  readonly webhookSourceAddresses: readonly string[]
  readonly logLevel: string
  readonly metricsToken: string | undefined
  /** Undefined: no mail; everything works by links that are passed on by hand. */
  readonly smtpUrl: string | undefined
  readonly mailFrom: string
  /** Where to report a vulnerability: a URL, as in security.txt. */
  readonly securityContact: string | undefined
  /** Whom partners ask about the API: a mailto: or https: URL. */
  readonly apiContact: string | undefined
  /** Where traces are sent by OTLP over HTTP. Undefined: nothing is traced. */
  readonly otlpEndpoint: string | undefined
  /** The share of traces that is recorded. */
  readonly traceRatio: number
}

export function readConfig(env: Record<string, string | undefined>): Config {
  const mistakes: string[] = []
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, [parse, fallback]]) => {
      const text = env[name]?.trim()
      if (!text) return [name, fallback]
      try {
        return [name, parse(text)]
      } catch (error) {
        mistakes.push(`${name}: expected ${(error as Error).message}`)
        return [name, fallback]
      }
    }),
  ) as Settings

  if (settings.DATABASE_URL && !env.SECRET_KEY?.trim()) {
    mistakes.push(
      'SECRET_KEY: required with DATABASE_URL; create one with: node -p "crypto.randomBytes(32).toString(\'hex\')"',
    )
  }
  if (settings.SMTP_URL && !settings.MAIL_FROM) mistakes.push('MAIL_FROM: required with SMTP_URL')
  for (const name of ['DATABASE_LISTEN_URL', 'DATABASE_REPLICA_URL', 'MIGRATION_DATABASE_URL'] as const) {
    if (settings[name] && !settings.DATABASE_URL) mistakes.push(`${name}: expected only together with DATABASE_URL`)
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes)

  const isLocal = !settings.DATABASE_URL && isLoopback(settings.HOST)
  return Object.freeze({
    port: settings.PORT,
    host: settings.HOST,
    dataDir: settings.DATA_DIR,
    databaseUrl: settings.DATABASE_URL,
    listenUrl: settings.DATABASE_LISTEN_URL,
    replicaUrl: settings.DATABASE_REPLICA_URL,
    migrationUrl: settings.MIGRATION_DATABASE_URL,
    replacedDatabaseUrl: settings.REPLACED_DATABASE_URL,
    hasPublicUrl: settings.PUBLIC_URL !== undefined,
    allowedHosts: settings.ALLOWED_HOSTS,
    publicUrl: settings.PUBLIC_URL ?? localAddress(settings.HOST, settings.PORT),
    redisUrl: settings.REDIS_URL,
    secretKey: settings.SECRET_KEY,
    previousSecretKey: settings.SECRET_KEY_PREVIOUS,
    callLogDays: settings.CALL_LOG_DAYS,
    role: settings.ROLE,
    webConcurrency: settings.WEB_CONCURRENCY,
    trustProxy: settings.TRUST_PROXY,
    demo: settings.DEMO ?? (isLocal && !settings.PUBLIC_URL),
    webhookAllowPrivateTargets: settings.WEBHOOK_ALLOW_PRIVATE_TARGETS,
    webhookSourceAddresses: settings.WEBHOOK_SOURCE_ADDRESSES,
    logLevel: settings.LOG_LEVEL,
    metricsToken: settings.METRICS_TOKEN,
    smtpUrl: settings.SMTP_URL,
    mailFrom: settings.MAIL_FROM ?? '',
    securityContact: settings.SECURITY_CONTACT,
    apiContact: settings.API_CONTACT,
    otlpEndpoint: settings.OTEL_EXPORTER_OTLP_ENDPOINT,
    traceRatio: settings.OTEL_TRACES_SAMPLER_ARG,
  })
}

/** Returns the URL of the service on this machine; a wildcard address does not work in a browser. */
function localAddress(listenHost: string, port: number): string {
  const name = listenHost === '0.0.0.0' || listenHost === '::' ? 'localhost' : listenHost
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))
}

function integer(min: number, max: number): Parse<number> {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new Error(`a whole number from ${min} to ${max}`)
    return value
  }
}

function ratio(text: string): number {
  const value = Number(text)
  if (!/^\d+(\.\d+)?$/.test(text) || value > 1) throw new Error('a number from 0 to 1')
  return value
}

function oneOf<const T extends string>(...choices: T[]): Parse<T> {
  return (text) => {
    const choice = choices.find((candidate) => candidate === text)
    if (!choice) throw new Error(`one of ${choices.join(', ')}`)
    return choice
  }
}

function flag(text: string): boolean {
  const [isOn, isOff] = [ON, OFF].map((words) => words.includes(text.toLowerCase()))
  if (!isOn && !isOff) throw new Error('on or off')
  return isOn!
}

function host(text: string): string {
  const isName = /^(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*$/i.test(text) && !/^[\d.]+$/.test(text)
  if (!isName && isIP(text) === 0) throw new Error('an IP address or a host name')
  return text
}

function hosts(text: string): string[] {
  return text.split(',').map((name) => {
    try {
      return host(name.trim())
    } catch (cause) {
      throw new Error('host names or IP addresses without ports, separated by commas', { cause })
    }
  })
}

function url(...protocols: string[]): Parse<string> {
  return (text) => {
    // Never quote the text in the message: it may contain a password.
    if (!URL.canParse(text) || !protocols.some((protocol) => text.toLowerCase().startsWith(`${protocol}//`))) {
      throw new Error(`an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`)
    }
    return text
  }
}

function databaseUrl(text: string): string {
  const addresses = addressesOf(text)
  const parse = url('postgres:', 'postgresql:')
  if (addresses.length === 1) return parse(text)
  if (addresses.length > DATABASE_HOSTS_MAX || !addresses.every(namesHost)) {
    throw new Error(`up to ${DATABASE_HOSTS_MAX} hosts with their ports, like postgres://user@db1:5432,db2:5433/name`)
  }
  return text
}

function namesHost(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { hostname, searchParams } = new URL(address)
  // Parameters of these names would replace the host of every address.
  return hostname !== '' && !searchParams.has('host') && !searchParams.has('port')
}

function publicUrl(text: string): string {
  const { origin, pathname, search, hash, username, password } = new URL(url('https:', 'http:')(text))
  if (pathname !== '/' || search || hash || username || password) {
    throw new Error('an address without path, query or credentials, like https://hours.example.org')
  }
  return origin
}

function secretKey(text: string): string {
  if (text.length < SECRET_KEY_LENGTH_MIN) throw new Error(`at least ${SECRET_KEY_LENGTH_MIN} random characters`)
  return text
}

function metricsToken(text: string): string {
  if (!/^[\x21-\x7e]{16,}$/.test(text)) throw new Error('at least 16 printable characters without spaces')
  return text
}

function mailFrom(text: string): string {
  if (!/^(?:[^<>\r\n]* )?<?[^\s@<>]+@[^\s@<>]+>?$/.test(text)) {
    throw new Error('a sender like Hourbank <office@hours.example.org>')
  }
  return text
}

/** RFC 9116 2.5.3 */
function securityContact(text: string): string {
  const isContact = /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[\d-]+)$/.test(text)
  if (!isContact) throw new Error('an address like mailto:security@example.org or https://example.org/security')
  return text
}

function networks(expected: string): Parse<string[]> {
  return (text) => {
    const ranges = text.split(',').map((range) => range.trim())
    try {
      for (const range of ranges) parseNetwork(range)
    } catch (error) {
      const { message } = error as Error
      throw new Error(`${expected} (${message})`, { cause: error })
    }
    return ranges
  }
}

function apiContact(text: string): string {
  const isContact = /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/.test(text)
  if (!isContact) throw new Error('an address like mailto:partners@example.org or https://example.org/partners')
  return text
}
