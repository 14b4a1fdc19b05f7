import fastify from 'fastify'
import { expect, test } from 'vitest'
import { sendTogether } from '../src/http/send-together.ts'

test('answers that are found in one turn go out after all of its requests, in their order', async () => {
  const app = fastify()
  const seen: string[] = []
  sendTogether(app)
  app.get('/:name', (request, reply) => {
    const { name } = request.params as { name: string }
    seen.push(`asked ${name}`)
    reply.raw.once('finish', () => seen.push(`answered ${name}`))
    reply.send(name)
  })
  await app.ready()
  const answers = await Promise.all(['a', 'b', 'c'].map((name) => app.inject(`/${name}`)))
  expect(answers.map(({ body }) => body)).toEqual(['a', 'b', 'c'])
  expect(seen).toEqual(['asked a', 'asked b', 'asked c', 'answered a', 'answered b', 'answered c'])
})

test('who is answered twice within a turn gets the first answer', async () => {
  const app = fastify()
  sendTogether(app)
  app.get('/', (_request, reply) => {
    reply.send('the answer')
    reply.send('no answer within its time')
  })
  const { statusCode, body } = await app.inject('/')
  expect({ statusCode, body }).toEqual({ statusCode: 200, body: 'the answer' })
})
