import * as fc from 'fast-check'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../src/config.ts'

const KEY = 'k'.repeat(32)
const DATABASE = { DATABASE_URL: 'postgres://user:hunter2@db.example.org/hourbank', SECRET_KEY: KEY }

function mistakes(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).mistakes
  }
  return []
}

test('without any setting there are defaults for a first look on this machine', () => {
  expect(readConfig({})).toEqual({
    port: 3000,
    host: '127.0.0.1',
    dataDir: resolve(fileURLToPath(new URL('../../', import.meta.url)), '.data'),
    databaseUrl: undefined,
    listenUrl: undefined,
    replicaUrl: undefined,
    migrationUrl: undefined,
    replacedDatabaseUrl: undefined,
    publicUrl: 'http://127.0.0.1:3000',
    hasPublicUrl: false,
    allowedHosts: [],
    redisUrl: undefined,
    secretKey: undefined,
    previousSecretKey: undefined,
    callLogDays: 90,
    role: 'all',
    webConcurrency: 1,
    trustProxy: false,
    demo: true,
    webhookAllowPrivateTargets: false,
    webhookSourceAddresses: [],
    logLevel: 'info',
    metricsToken: undefined,
    smtpUrl: undefined,
    mailFrom: '',
    securityContact: undefined,
    apiContact: undefined,
    otlpEndpoint: undefined,
    traceRatio: 1,
  })
})

test('every setting can be set', () => {
  const config = readConfig({
    PORT: '8080',
    HOST: '::',
    DATA_DIR: '/var/lib/hourbank',
    ...DATABASE,
    DATABASE_LISTEN_URL: 'postgresql://direct.example.org/hourbank',
    DATABASE_REPLICA_URL: 'postgres://copy.example.org/hourbank',
    PUBLIC_URL: 'https://hours.example.org/',
    REDIS_URL: 'rediss://cache.example.org',
    SECRET_KEY_PREVIOUS: 'p'.repeat(32),
    CALL_LOG_DAYS: '30',
    ROLE: 'api',
    WEB_CONCURRENCY: '4',
    TRUST_PROXY: '10.0.0.0/8, 2001:db8::/32,192.0.2.7',
    DEMO: 'on',
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    WEBHOOK_SOURCE_ADDRESSES: '192.0.2.7, 2001:db8::/32',
    LOG_LEVEL: 'debug',
    METRICS_TOKEN: 'a-token-for-metrics',
    SMTP_URL: 'smtps://user:hunter2@mail.example.org',
    MAIL_FROM: 'Hourbank <office@hours.example.org>',
    MIGRATION_DATABASE_URL: 'postgres://owner@db.example.org/hourbank',
    REPLACED_DATABASE_URL: 'postgres://old.example.org/hourbank',
    ALLOWED_HOSTS: 'alias.example.org, 192.0.2.7',
    SECURITY_CONTACT: 'mailto:security@example.org',
    API_CONTACT: 'https://example.org/partners',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.example.org',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    UNRELATED: 'ignored',
  })
  expect(config).toEqual({
    port: 8080,
    host: '::',
    dataDir: '/var/lib/hourbank',
    databaseUrl: DATABASE.DATABASE_URL,
    listenUrl: 'postgresql://direct.example.org/hourbank',
    replicaUrl: 'postgres://copy.example.org/hourbank',
    publicUrl: 'https://hours.example.org',
    redisUrl: 'rediss://cache.example.org',
    secretKey: KEY,
    previousSecretKey: 'p'.repeat(32),
    callLogDays: 30,
    role: 'api',
    webConcurrency: 4,
    trustProxy: ['10.0.0.0/8', '2001:db8::/32', '192.0.2.7'],
    demo: true,
    webhookAllowPrivateTargets: true,
    webhookSourceAddresses: ['192.0.2.7', '2001:db8::/32'],
    logLevel: 'debug',
    metricsToken: 'a-token-for-metrics',
    smtpUrl: 'smtps://user:hunter2@mail.example.org',
    mailFrom: 'Hourbank <office@hours.example.org>',
    migrationUrl: 'postgres://owner@db.example.org/hourbank',
    replacedDatabaseUrl: 'postgres://old.example.org/hourbank',
    hasPublicUrl: true,
    allowedHosts: ['alias.example.org', '192.0.2.7'],
    securityContact: 'mailto:security@example.org',
    apiContact: 'https://example.org/partners',
    otlpEndpoint: 'https://traces.example.org',
    traceRatio: 0.25,
  })
  expect(Object.isFrozen(config)).toBe(true)
})

test('all errors are reported together, each with its variable and what was expected', () => {
  const wrong = {
    PORT: '70000',
    HOST: 'not a host',
    DATABASE_URL: 'mysql://db.example.org/hourbank',
    DATABASE_LISTEN_URL: 'db.example.org',
    PUBLIC_URL: 'hours.example.org',
    REDIS_URL: 'http://cache.example.org',
    SECRET_KEY: 'short',
    SECRET_KEY_PREVIOUS: 'short',
    CALL_LOG_DAYS: '0',
    ROLE: 'boss',
    WEB_CONCURRENCY: '2.5',
    TRUST_PROXY: 'true',
    DEMO: 'maybe',
    WEBHOOK_ALLOW_PRIVATE_TARGETS: 'yes please',
    LOG_LEVEL: 'loud',
    METRICS_TOKEN: 'short',
    OTEL_TRACES_SAMPLER_ARG: '1.5',
  }
  expect(mistakes(wrong)).toEqual([
    'PORT: expected a whole number from 1 to 65535',
    'HOST: expected an IP address or a host name',
    'DATABASE_URL: expected an address that begins with postgres:// or postgresql://',
    'DATABASE_LISTEN_URL: expected an address that begins with postgres:// or postgresql://',
    'PUBLIC_URL: expected an address that begins with https:// or http://',
    'REDIS_URL: expected an address that begins with redis:// or rediss://',
    'SECRET_KEY: expected at least 32 random characters',
    'SECRET_KEY_PREVIOUS: expected at least 32 random characters',
    'CALL_LOG_DAYS: expected a whole number from 1 to 3650',
    'ROLE: expected one of all, api, worker',
    'WEB_CONCURRENCY: expected a whole number from 1 to 64',
    expect.stringMatching(/^TRUST_PROXY: expected the addresses of the proxies in front, like 10\.0\.0\.0\/8, /),
    'DEMO: expected on or off',
    'WEBHOOK_ALLOW_PRIVATE_TARGETS: expected on or off',
    'LOG_LEVEL: expected one of fatal, error, warn, info, debug, trace, silent',
    'METRICS_TOKEN: expected at least 16 printable characters without spaces',
    'OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1',
  ])
  expect(() => readConfig({ PORT: 'x', ROLE: 'y' })).toThrow(
    'These settings are invalid:\n  PORT: expected a whole number from 1 to 65535\n  ROLE: expected one of all, api, worker',
  )
})

test('almost valid values are rejected', () => {
  const nearly: [name: string, ...texts: string[]][] = [
    ['PORT', '0', '-1', '65536', '3e3', '0x50', '80 80', '3000;', '٣'],
    ['HOST', '-a', 'a..b', 'http://localhost', 'localhost:80', '256.0.0.1', '127.1', 'a_b', '[::1]'],
    [
      'DATABASE_URL',
      'postgres://a:1,b:x/h',
      'postgres://a,/h',
      'postgres://a,b/h?host=c',
      `postgres://${'a,'.repeat(8)}a/h`,
    ],
    ['DATABASE_URL', 'postgres:', 'postgres:db', 'postgres:/db', 'postgres', '//db/hourbank', 'postgres://a:b:c'],
    [
      'PUBLIC_URL',
      'https://a.example/path',
      'https://a.example/?a=b',
      'https://a.example/#a',
      'ftp://a.example',
      'https://',
    ],
    ['PUBLIC_URL', 'https://me@a.example', 'https://me:secret@a.example', 'https://:secret@a.example'],
    ['TRUST_PROXY', '1', 'loopback', '10.0.0.1/8', '10.0.0.0/8,', '10.0.0.0/8 192.0.2.7', '0.0.0.0/0,any'],
    ['DEMO', 'yes', 'no', '2', 'constructor', '__proto__', 'null', 'truefalse'],
    ['ROLE', 'API', 'constructor', 'all,api'],
    ['METRICS_TOKEN', 'with a space in the middle', 'a'.repeat(15), 'ü'.repeat(20)],
    ['SECRET_KEY', 'k'.repeat(31)],
  ]
  for (const [name, ...texts] of nearly) {
    for (const text of texts) {
      const found = mistakes({ ...DATABASE, [name]: text })
      expect(found, `${name}=${text}`).toEqual([expect.stringMatching(new RegExp(`^${name}: expected `))])
    }
  }
})

test('the address of the database may name several hosts, each with its port', () => {
  for (const hosts of ['db1:5432,db2:5433', 'u:p@db1,db2', 'u@[2001:db8::1]:5432,db2:1', 'u:a%2Cb@db1,10.0.0.5:7']) {
    const url = `postgres://${hosts}/hourbank?sslmode=require`
    expect(readConfig({ ...DATABASE, DATABASE_URL: url }).databaseUrl).toBe(url)
  }
  expect(mistakes({ ...DATABASE, DATABASE_URL: 'postgres://u:hunter2@db1:a,db2/hourbank' })).toEqual([
    'DATABASE_URL: expected up to 8 hosts with their ports, like postgres://user@db1:5432,db2:5433/name',
  ])
})

test('a setting that is empty or blank counts as absent', () => {
  expect(readConfig({ PORT: '', HOST: '  ', DATABASE_URL: '', DEMO: '' })).toEqual(readConfig({}))
  expect(readConfig({ PORT: ' 8080 ' }).port).toBe(8080)
})

test('no password of an address, and no key, is repeated in a message', () => {
  const secret = 'hunter2'
  for (const [name, text] of Object.entries({
    DATABASE_URL: `postgres:/user:${secret}@db.example.org/hourbank`,
    DATABASE_LISTEN_URL: `http://user:${secret}@db.example.org/hourbank`,
    REDIS_URL: `redis//:${secret}@cache.example.org`,
    PUBLIC_URL: `https://me:${secret}@hours.example.org`,
    SECRET_KEY: secret,
    SECRET_KEY_PREVIOUS: secret,
    METRICS_TOKEN: secret,
  })) {
    const found = mistakes({ ...DATABASE, [name]: text })
    expect(found, name).toHaveLength(1)
    expect(found[0], name).not.toContain(secret)
  }
})

test('a database of one’s own needs a key of one’s own', () => {
  expect(mistakes({ DATABASE_URL: DATABASE.DATABASE_URL })).toEqual([
    expect.stringMatching(/^SECRET_KEY: required with DATABASE_URL; create one with: node -p /),
  ])
  expect(mistakes({ DATABASE_URL: DATABASE.DATABASE_URL, SECRET_KEY: ' ' })).toHaveLength(1)
  expect(mistakes(DATABASE)).toEqual([])
  expect(mistakes({ DATABASE_LISTEN_URL: 'postgres://db.example.org/hourbank' })).toEqual([
    'DATABASE_LISTEN_URL: expected only together with DATABASE_URL',
  ])
  expect(mistakes({ DATABASE_REPLICA_URL: 'postgres://copy.example.org/hourbank' })).toEqual([
    'DATABASE_REPLICA_URL: expected only together with DATABASE_URL',
  ])
})

const demo = (env: Record<string, string>) => readConfig(env).demo

test('the demo is made only where nobody else can see it, unless it is asked for', () => {
  for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost']) expect(demo({ HOST: host }), host).toBe(true)
  for (const host of ['0.0.0.0', '::', '192.0.2.1', '127.example.org', 'example.org']) {
    expect(demo({ HOST: host }), host).toBe(false)
  }
  expect(demo(DATABASE)).toBe(false)
  expect(demo({ PUBLIC_URL: 'https://hours.example.org' })).toBe(false)
  expect(demo({ DEMO: 'off' })).toBe(false)
  expect(demo({ ...DATABASE, HOST: '0.0.0.0', PUBLIC_URL: 'https://hours.example.org', DEMO: 'on' })).toBe(true)
})

const told = (env: Record<string, string>) => readConfig(env).publicUrl

test('the address shown to people is one they can type', () => {
  expect(told({ HOST: '0.0.0.0', PORT: '80' })).toBe('http://localhost:80')
  expect(told({ HOST: '::', PORT: '8080' })).toBe('http://localhost:8080')
  expect(told({ HOST: '::1' })).toBe('http://[::1]:3000')
  expect(told({ HOST: 'hours.local' })).toBe('http://hours.local:3000')
  expect(told({ PUBLIC_URL: 'https://hours.example.org:8443' })).toBe('https://hours.example.org:8443')
  expect(told({ PUBLIC_URL: 'https://hours.example.org?' })).toBe('https://hours.example.org')
})

test('any environment gives either a complete config or a list of all errors', () => {
  const names = Object.keys({
    ...DATABASE,
    PORT: '',
    HOST: '',
    PUBLIC_URL: '',
    TRUST_PROXY: '',
    DEMO: '',
    ROLE: '',
    LOG_LEVEL: '',
  })
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', 'toString', 'on', '1', 'postgres://a/b'),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), text), (env) => {
      try {
        const config = readConfig(env)
        expect(config.demo).toBeTypeOf('boolean')
        expect(config.port).toBeTypeOf('number')
        expect(URL.canParse(config.publicUrl)).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError)
        expect((error as ConfigError).mistakes.length).toBeGreaterThan(0)
      }
    }),
  )
})
