import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { startBank } from './bank.ts'

const REQUEST = 'GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n'

/** Sends requests in one packet; resolves with the number of responses when all have arrived or the service has hung up. */
async function pipeline(url: string, requests: number): Promise<number> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let text = ''
  const count = () => text.split('HTTP/1.1 200 OK').length - 1
  return new Promise((resolve) => {
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => {
      text += chunk
      if (count() === requests) resolve(requests)
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(count()))
    socket.write(REQUEST.repeat(requests))
  })
}

test('a few requests may be sent without waiting; a connection with more of them is closed', async () => {
  const { url, call } = await startBank()
  expect(await pipeline(url, 10)).toBe(10)
  // More on another connection are none of its business.
  expect(await Promise.all([pipeline(url, 500), pipeline(url, 10)])).toEqual([0, 10])
  expect((await call('/openapi.json')).status).toBe(200)
})

test('requests that were answered no longer count', async () => {
  const { url } = await startBank()
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.setEncoding('latin1')
  for (let round = 0; round < 3; round++) {
    let answers = 0
    await new Promise<void>((resolve, reject) => {
      socket.once('close', reject)
      const listen = (chunk: string) => {
        answers += chunk.split('HTTP/1.1 200 OK').length - 1
        if (answers < 10) return
        socket.off('data', listen).off('close', reject)
        resolve()
      }
      socket.on('data', listen)
      socket.write(REQUEST.repeat(10))
    })
  }
})
