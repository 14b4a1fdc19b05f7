import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bank, join as joinTown, start } from './client-calls.ts'
import { isFullVolume } from './volume.ts'

const OPENAPI = fileURLToPath(new URL('../../openapi.json', import.meta.url))
const PYTHON_CHECK = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))'
const hasPython = isFullVolume && spawnSync('python3', ['-c', PYTHON_CHECK]).status === 0

/** TypeScript 5: the generator needs its compiler API, which our own TypeScript 7 does not have. */
const NPM_PACKAGES = ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3', '@types/node@20.19.43']
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1', 'httpx==0.28.1']

const TSCONFIG = {
  compilerOptions: { strict: true, target: 'es2022', module: 'nodenext', outDir: 'out', types: ['node'] },
  files: ['program.ts'],
}

/** One call of each kind, and one error of each kind that a call can get, with what only this kind carries. */
const EXPECTED = {
  list: ['Ada'],
  get: 'Ada',
  post: [1.5, false],
  patch: 'paused',
  delete: true,
  errors: [
    [401, 'invalid_token'],
    [403, 'insufficient_scope'],
    [404, 'user_not_found'],
    [409, 'reference_conflict', 1.5],
    [422, 'validation_failed', 'hours'],
    [403, 'quota_exceeded'],
  ],
}

/** An error of a later version. */
const UNKNOWN_ERROR = {
  error: 'quota_exceeded',
  error_description: 'The quota is used up.',
  request_id: '5f0c9a52-6c1e-4b0e-9d7a-3f1b2c4d5e6f',
}

const TYPESCRIPT = `
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.js'

const [, , baseUrl = '', token = '', readerToken = ''] = process.argv
const clientWith = (bearer: string) =>
  createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + bearer } })
const client = clientWith(token)
const ofLaterVersion = createClient<paths>({
  baseUrl,
  fetch: async () => Response.json(${JSON.stringify(UNKNOWN_ERROR)}, { status: 403 }),
})
const API = '/api/partner/v1'

function told({ error, response }: { error?: components['schemas']['Error']; response: Response }) {
  const told = [response.status, error?.error]
  if (error && 'errors' in error) return [...told, error.errors[0]?.field]
  if (error && 'data' in error) return [...told, error.data.hours]
  return told
}

const list = await client.GET(\`\${API}/users\`, { params: { query: { limit: 1 } } })
const user_id = list.data!.data[0]!.id
const id = String(user_id)
const get = await client.GET(\`\${API}/users/{id}\`, { params: { path: { id } } })
const credit = { user_id, hours: 1.5, reference: 'tx-1' }
const post = await client.POST(\`\${API}/wallet/credit\`, { body: credit })
const made = await client.POST(\`\${API}/webhooks/subscriptions\`, {
  body: { event_types: ['*'], target_url: 'https://partner.example.org/hook' },
})
const path = { id: String(made.data!.data.id) }
const patch = await client.PATCH(\`\${API}/webhooks/subscriptions/{id}\`, { params: { path }, body: { status: 'paused' } })
const deleted = await client.DELETE(\`\${API}/webhooks/subscriptions/{id}\`, { params: { path } })
const errors = [
  told(await clientWith('wrong').GET(\`\${API}/users\`)),
  told(await clientWith(readerToken).POST(\`\${API}/wallet/credit\`, { body: credit })),
  told(await client.GET(\`\${API}/users/{id}\`, { params: { path: { id: '999' } } })),
  told(await client.POST(\`\${API}/wallet/credit\`, { body: { ...credit, hours: 2 } })),
  told(await client.POST(\`\${API}/wallet/credit\`, { body: { ...credit, hours: -1 } })),
  told(await ofLaterVersion.GET(\`\${API}/users\`)),
]
console.log(
  JSON.stringify({
    list: list.data!.data.map(({ name }) => name),
    get: get.data!.data.name,
    post: [post.data!.data.hours, post.data!.data.replayed],
    patch: patch.data!.data.status,
    delete: deleted.response.ok,
    errors,
  }),
)
`

const PYTHON = `
import importlib
import json
import pkgutil
import sys

import generated
import httpx
from generated import AuthenticatedClient
from generated.api.members import get_user, list_users
from generated.api.wallet import credit_wallet
from generated.api.webhooks import create_subscription, delete_subscription, update_subscription
from generated.models import CreditRequest, ReferenceConflictError, SubscriptionChange, SubscriptionRequest
from generated.models import ValidationFailedError
from generated.models.subscription_change_status import SubscriptionChangeStatus

for module in pkgutil.walk_packages(generated.__path__, "generated."):
    importlib.import_module(module.name)

url, token, reader_token = sys.argv[1:]
client = AuthenticatedClient(url, token)
unknown_error = json.loads('${JSON.stringify(UNKNOWN_ERROR)}')
answer = httpx.MockTransport(lambda request: httpx.Response(403, json=unknown_error))
of_later_version = AuthenticatedClient(url, token, httpx_args={"transport": answer})


def told(response):
    error = response.parsed
    told = [response.status_code.value, error.error]
    if isinstance(error, ValidationFailedError):
        return [*told, error.errors[0].field]
    if isinstance(error, ReferenceConflictError):
        return [*told, error.data.hours]
    return told


def credit(hours):
    return CreditRequest(user_id=members[0].id, hours=hours, reference="tx-1")


members = list_users.sync(client=client, limit=1).data
post = credit_wallet.sync(client=client, body=credit(1.5)).data
wanted = SubscriptionRequest(event_types=["*"], target_url="https://partner.example.org/hook")
made = create_subscription.sync(client=client, body=wanted).data
change = SubscriptionChange(status=SubscriptionChangeStatus.PAUSED)
result = {
    "list": [member.name for member in members],
    "get": get_user.sync(members[0].id, client=client).data.name,
    "post": [post.hours, post.replayed],
    "patch": update_subscription.sync(made.id, client=client, body=change).data.status,
    "delete": delete_subscription.sync_detailed(made.id, client=client).status_code == 200,
    "errors": [
        told(list_users.sync_detailed(client=AuthenticatedClient(url, "wrong"))),
        told(credit_wallet.sync_detailed(client=AuthenticatedClient(url, reader_token), body=credit(1.5))),
        told(get_user.sync_detailed(999, client=client)),
        told(credit_wallet.sync_detailed(client=client, body=credit(2))),
        told(credit_wallet.sync_detailed(client=client, body=credit(-1))),
        told(list_users.sync_detailed(client=of_later_version)),
    ],
}
print(json.dumps(result))
`

async function makeFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'hourbank-generated-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const run = (command: string, ...args: string[]) => promisify(execFile)(command, args, { cwd: folder })
  return { folder, run }
}

async function startTown(): Promise<string[]> {
  await start()
  await joinTown('Ada')
  return [bank.url, await bank.token(), await bank.token('users.read')]
}

// The generators come from the internet, so these are part of `npm run test:full` only.
describe.skipIf(!isFullVolume)(
  'a client generated from the description makes each kind of call and reads each kind of error',
  () => {
    test('with openapi-typescript', async () => {
      const { folder, run } = await makeFolder()
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
      await writeFile(join(folder, 'program.ts'), TYPESCRIPT)
      await run('npm', 'install', '--no-audit', '--no-fund', ...NPM_PACKAGES)
      await run('npx', 'openapi-typescript', OPENAPI, '-o', 'schema.d.ts')
      await run('npx', 'tsc')
      const { stdout } = await run(process.execPath, 'out/program.js', ...(await startTown()))
      expect(JSON.parse(stdout)).toEqual(EXPECTED)
    })

    test.skipIf(!hasPython)('with openapi-python-client', async () => {
      const { folder, run } = await makeFolder()
      await run('python3', '-m', 'venv', 'env')
      await run('env/bin/pip', 'install', '--quiet', ...PYTHON_PACKAGES)
      const output = ['--output-path', join(folder, 'generated'), '--meta', 'none']
      await run('env/bin/openapi-python-client', 'generate', '--path', OPENAPI, ...output)
      await writeFile(join(folder, 'program.py'), PYTHON)
      const { stdout } = await run('env/bin/python', 'program.py', ...(await startTown()))
      expect(JSON.parse(stdout)).toEqual(EXPECTED)
    })
  },
)
