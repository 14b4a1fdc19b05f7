import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Certificate {
  keyFile: string
  certFile: string
  caFile: string
  remove(): void
}

/** Creates a certificate for `localhost` with its own authority: webhooks are sent only to https:// addresses. */
export function makeCertificate(): Certificate {
  const dir = mkdtempSync(join(tmpdir(), 'hourbank-bench-'))
  const at = (name: string) => join(dir, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl([
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '2',
    '-subj',
    '/CN=Bench',
  ])
  openssl(['req', ...newKey, '-keyout', at('key.pem'), '-out', at('request.pem'), '-subj', '/CN=localhost'])
  writeFileSync(at('names'), 'subjectAltName=DNS:localhost')
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names')]
  openssl(['x509', '-req', '-in', at('request.pem'), ...signed, '-out', at('cert.pem')])
  return {
    keyFile: at('key.pem'),
    certFile: at('cert.pem'),
    caFile: at('ca.pem'),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  }
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}
