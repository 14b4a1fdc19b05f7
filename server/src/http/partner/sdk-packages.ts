import type { FastifyInstance } from 'fastify'
import { readFile } from 'node:fs/promises'
import { PROJECT } from '../../core/project.ts'
import { ApiError } from '../shared/errors.ts'

/** Written by the build, in the version of the service. */
const PACKAGES = new URL('dist/sdk/', PROJECT)
const NPM_PACKAGE = 'hourbank-client.tgz'

/** The SDKs as files that npm and pip install from their address, so that partners need neither a registry nor this repository. */
export async function sdkPackages(app: FastifyInstance): Promise<void> {
  const { version } = JSON.parse(await readFile(new URL('package.json', PROJECT), 'utf8'))
  // pip reads name and version from the name of the file, so the address without a version can only redirect.
  const wheel = `hourbank-${version}-py3-none-any.whl`
  sendFile(app, NPM_PACKAGE, 'application/gzip')
  sendFile(app, wheel, 'application/zip')
  app.get('/hourbank.whl', { schema: { hide: true } }, async (_request, reply) => reply.redirect(`/docs/${wheel}`))
}

function sendFile(app: FastifyInstance, name: string, type: string): void {
  // Not compressed again: both are compressed already.
  app.get(`/${name}`, { schema: { hide: true }, compress: false }, async (_request, reply) =>
    reply
      .type(type)
      .header('cache-control', 'no-cache')
      .send(await readPackage(name)),
  )
}

async function readPackage(name: string): Promise<Buffer> {
  try {
    return await readFile(new URL(name, PACKAGES))
  } catch (cause) {
    throw new ApiError('not_found', { cause })
  }
}
