import fastify from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sendTogether } from '../src/http/partner/send-together.ts'
import { answerInTime } from '../src/http/shared/time-limit.ts'

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

test('who was told that it took too long gets no half of the answer that comes in the same turn', async () => {
  const app = fastify()
  sendTogether(app)
  app.get('/', (_request, reply) => {
    reply.code(503).send('too late')
    reply.code(201).send('the answer')
  })
  const { statusCode, body } = await app.inject('/')
  expect({ statusCode, body }).toEqual({ statusCode: 503, body: 'too late' })
})

test('an answer that was found just in time is not taken back before it goes out', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const app = fastify()
  answerInTime(app, 1000)
  sendTogether(app)
  app.get('/', { config: { answerWithinMs: 0 } }, (_request, reply) => {
    reply.send('the answer')
    // The look at what is open, of which this is overdue.
    vi.advanceTimersToNextTimer()
  })
  const { statusCode, body } = await app.inject('/')
  expect({ statusCode, body }).toEqual({ statusCode: 200, body: 'the answer' })
})
