import { expect, onTestFinished, test } from 'vitest'
import { connect, transaction } from '../src/postgres/connect.ts'
import { newDatabase } from './database.ts'

test('a pool hears its own announcements when the transaction commits, and nothing of a rolled-back one', async () => {
  const sql = connect(await newDatabase(), { connectionsMax: 1, name: 'test' })
  onTestFinished(() => sql.end())
  const heard: string[] = []
  sql.onAnnounced('news', (payload) => void heard.push(payload))
  sql.onAnnounced('other', () => expect.unreachable())

  await transaction(sql, async (tx) => {
    await tx.announce('news', 'first')
    await tx.savepoint((inner) => inner.announce('news', 'second'))
    expect(heard).toEqual([])
  })
  expect(heard).toEqual(['first', 'second'])

  const failing = transaction(sql, async (tx) => {
    await tx.announce('news', 'third')
    throw new Error('rolled back')
  })
  await expect(failing).rejects.toThrow('rolled back')
  expect(heard).toEqual(['first', 'second'])
})
