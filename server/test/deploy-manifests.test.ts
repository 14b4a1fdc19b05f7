import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig, SETTINGS } from '../src/config.ts'
import { REPOSITORY } from './guide-blocks.ts'

const DEPLOY = join(REPOSITORY, 'docs/deploy')
const kubernetesText = readFileSync(join(DEPLOY, 'kubernetes.yaml'), 'utf8')
const composeText = readFileSync(join(DEPLOY, 'compose/compose.yaml'), 'utf8')

/** The validators, which bring their schemas; `npm run test:deploy` installs them. */
const PYTHON = join(REPOSITORY, 'dist/deploy-venv/bin/python')
const KUBERNETES_VERSIONS = ['1.30', '1.37']
const CHECK_KUBERNETES = `
import sys, yaml, kubernetes_validate
for document in yaml.safe_load_all(sys.argv[1]):
    for version in sys.argv[2:]:
        kubernetes_validate.validate(document, version, strict=True)`
const CHECK_COMPOSE = `
import sys, compose_spec
compose_spec.PyCompose.from_yaml(sys.argv[1]).validate()`
const python = (program: string, ...args: string[]) => promisify(execFile)(PYTHON, ['-c', program, ...args])

type Settings = Record<string, string>

/** What an operator keeps in secrets. */
const SECRETS = { SECRET_KEY: 'k'.repeat(64), METRICS_TOKEN: 'm'.repeat(32) }

function expectAccepted(settings: Settings, expected: object): void {
  for (const name of Object.keys(settings)) expect(Object.keys(SETTINGS)).toContain(name)
  expect(readConfig(settings)).toMatchObject(expected)
}

describe('kubernetes.yaml', () => {
  const manifests: any[] = parseAllDocuments(kubernetesText).map((document) => document.toJS())
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)
  const pods = [...ofKind('Deployment'), ...ofKind('Job')].map(({ spec }) => spec.template)
  const containers = pods.map(({ spec }) => spec.containers[0])
  const DATABASE_URL = 'postgres://hourbank_service:p@db.example.org/hourbank'
  const fromConfigMap = { ...(ofKind('ConfigMap')[0].data as Settings), ...SECRETS, DATABASE_URL }

  test('the service takes its settings, and nodes share one image and the configured sources', () => {
    for (const { env = [], envFrom } of containers) {
      const own = Object.fromEntries(env.map(({ name, value }: Settings) => [name, value]))
      expectAccepted({ ...fromConfigMap, ...own }, { databaseUrl: DATABASE_URL, demo: false })
      expect(envFrom).toEqual(expect.arrayContaining([{ configMapRef: { name: 'hourbank' } }]))
    }
    expect(new Set(containers.map(({ image }) => image)).size).toBe(1)
    const roles = ofKind('Deployment').map(({ spec }) => spec.template.spec.containers[0].env[0].value)
    expect(roles).toEqual(['api', 'worker'])
  })

  test('each deployment survives the loss of a node: two replicas, probes, a disruption budget', () => {
    for (const { metadata, spec } of ofKind('Deployment')) {
      const { labels } = spec.template.metadata
      expect(spec.replicas).toBeGreaterThanOrEqual(2)
      expect(spec.selector.matchLabels).toEqual(labels)
      const [container] = spec.template.spec.containers
      expect(container.livenessProbe.httpGet.path).toBe('/healthz')
      expect(container.readinessProbe.httpGet.path).toBe('/readyz')
      const budget = ofKind('PodDisruptionBudget').find((one) => one.metadata.name === metadata.name)
      expect(budget.spec.selector.matchLabels).toEqual(labels)
      expect(budget.spec.minAvailable).toBeLessThan(spec.replicas)
    }
    const [service] = ofKind('Service')
    expect(service.spec.selector).toEqual(ofKind('Deployment')[0].spec.template.metadata.labels)
  })

  test('who receives files has a temporary folder, although nothing else can be written', () => {
    const [{ spec }] = ofKind('Deployment').map((deployment) => deployment.spec.template)
    expect(spec.containers[0].securityContext.readOnlyRootFilesystem).toBe(true)
    expect(spec.containers[0].volumeMounts).toEqual([{ name: 'tmp', mountPath: '/tmp' }])
    expect(spec.volumes).toEqual([{ name: 'tmp', emptyDir: { sizeLimit: '256Mi' } }])
  })

  test('only the migration job knows the owner of the tables', () => {
    const knowing = manifests.filter((manifest) => JSON.stringify(manifest).includes('hourbank-owner'))
    expect(knowing.map(({ kind }) => kind)).toEqual(['Job'])
    expect(knowing[0].spec.template.spec.containers[0].command).toEqual(['node', 'server/bin/hourbank.js', 'migrate'])
  })

  test.skipIf(!existsSync(PYTHON))('fits the schemas of Kubernetes, and a broken manifest does not', async () => {
    await python(CHECK_KUBERNETES, kubernetesText, ...KUBERNETES_VERSIONS)
    for (const [from, to] of [
      ['replicas: 2', 'replicas: two'],
      ['readinessProbe:', 'readynessProbe:'],
      ['minAvailable: 1', 'minAvailable: [1]'],
    ] as const) {
      expect(kubernetesText).toContain(from)
      await expect(python(CHECK_KUBERNETES, kubernetesText.replace(from, to), ...KUBERNETES_VERSIONS)).rejects.toThrow(
        'ValidationError',
      )
    }
  })
})

describe('compose.yaml', () => {
  const values: Settings = { ...SECRETS, SITE: 'hours.example.org' }
  /** As Compose replaces ${NAME:?message}, with passwords for the rest, and '${NAME:-default}', of which it makes a number where one belongs. */
  const filled = composeText
    .replaceAll(/\$\{(\w+):\?[^}]*\}/g, (_, name: string) => values[name] ?? 'password')
    .replaceAll(/'\$\{\w+:-([^}]*)\}'/g, '$1')
  const merged = parse(filled, { merge: true }) as Record<string, Record<string, any>>
  const { services, networks } = merged

  test('has PostgreSQL with a standby, Redis, two nodes for requests, two workers and a proxy', () => {
    expect(Object.keys(services!)).toEqual(['primary', 'standby', 'redis', 'migrate', 'api', 'worker', 'proxy'])
    for (const name of ['api', 'worker']) expect(services![name].deploy.replicas).toBe(2)
  })

  test('the service takes the settings, and trusts the proxy alone', () => {
    for (const name of ['migrate', 'api', 'worker']) {
      const trusted = [services!.proxy.networks.hourbank.ipv4_address]
      expectAccepted(services![name].environment, { trustProxy: trusted, demo: false, hasPublicUrl: true })
    }
    expect(services!.api.environment).not.toHaveProperty('MIGRATION_DATABASE_URL')
    // The nodes follow when the standby is promoted.
    expect(services!.api.environment.DATABASE_URL).toContain('@primary:5432,standby:5432/')
    expect(networks!.hourbank.ipam.config).toEqual([{ subnet: '172.30.0.0/24' }])
  })

  test('after a takeover, one setting keeps the old primary stopped, and an upgrade waits for the standby', () => {
    expect(composeText).toContain("replicas: '${PRIMARY_REPLICAS:-1}'")
    const { primary, standby, migrate } = services!
    expect(primary.deploy.replicas).toBe(1)
    // Compose does not wait for a service without replicas, but it waits for the standby, if that is there.
    expect(migrate.depends_on).toEqual({
      primary: { condition: 'service_healthy' },
      standby: { condition: 'service_healthy', required: false },
    })
    for (const { healthcheck } of [primary, standby]) {
      expect(healthcheck.test).toEqual(expect.arrayContaining(['pg_isready']))
      expect(healthcheck.retries).toBeLessThanOrEqual(60)
    }
    const guide = readFileSync(join(REPOSITORY, 'docs/operators.md'), 'utf8')
    const [, steps = ''] = /```sh no-run\n([^`]*pg_ctl promote\n)```/.exec(guide) ?? []
    expect(steps.split('\n')[0]).toMatch(/^echo PRIMARY_REPLICAS=0 >>\.env/)
    for (const [, name] of steps.matchAll(/docker compose (?:exec -u \w+|rm [-\w ]*?) ?(primary|standby)\b/g)) {
      expect(Object.keys(services!)).toContain(name)
    }
  })

  test('who receives files has a temporary folder, although nothing else can be written', () => {
    expect(services!.api).toMatchObject({ read_only: true, tmpfs: ['/tmp:mode=1777,size=256m'] })
  })

  test('names only files and services that exist', () => {
    for (const { depends_on = {}, volumes = [] } of Object.values(services!)) {
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)
      for (const name of needed) expect(Object.keys(services!)).toContain(name)
      for (const volume of volumes as string[]) {
        const [source] = volume.split(':')
        if (source!.startsWith('.')) expect(existsSync(join(DEPLOY, 'compose', source!)), volume).toBe(true)
      }
    }
    const { context, dockerfile } = services!.migrate.build
    expect(existsSync(join(DEPLOY, 'compose', context, dockerfile))).toBe(true)
  })

  test.skipIf(!existsSync(PYTHON))('fits the specification of Compose, and a broken file does not', async () => {
    // JSON is YAML. The validator does not know merge keys.
    const text = JSON.stringify(merged)
    await python(CHECK_COMPOSE, text)
    for (const [from, to] of [
      ['"read_only":true', '"read_only":[1]'],
      ['"networks":["hourbank"]', '"networks":["other"]'],
    ] as const) {
      expect(text).toContain(from)
      await expect(python(CHECK_COMPOSE, text.replaceAll(from, to)), to).rejects.toThrow('ValueError')
    }
  })
})
