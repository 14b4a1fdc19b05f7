import { expect, test } from 'vitest'
import { findProblems } from '../../console/messages/check.ts'

test('every message of the console is translated, used, and can be shown', async () => {
  expect(await findProblems()).toEqual([])
})
