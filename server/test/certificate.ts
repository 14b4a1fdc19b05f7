import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const RECEIVER_NAME = 'receiver.test'

/** A certificate for receivers on this machine, of an authority of its own; gone when the process ends. */
export function makeCertificate() {
  const dir = mkdtempSync(join(tmpdir(), 'hourbank-receiver-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  const at = (name: string) => join(dir, name)
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const authority = ['-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '2', '-subj', '/CN=Test CA']
  openssl(['req', '-x509', ...newKey, ...authority])
  openssl(['req', ...newKey, '-keyout', at('key.pem'), '-out', at('request.pem'), '-subj', `/CN=${RECEIVER_NAME}`])
  writeFileSync(at('names'), `subjectAltName=DNS:${RECEIVER_NAME},DNS:localhost,IP:127.0.0.1`)
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2', '-extfile', at('names')]
  openssl(['x509', '-req', '-in', at('request.pem'), ...signed, '-out', at('cert.pem')])
  return { key: readFileSync(at('key.pem')), cert: readFileSync(at('cert.pem')), caFile: at('ca.pem') }
}

function openssl(args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' })
}
