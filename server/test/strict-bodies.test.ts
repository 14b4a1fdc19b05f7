import { describe, expect, test } from 'vitest'
import { addMember } from '../src/features/members/change-member.ts'
import { addAdmin } from './admin.ts'
import { startBank, TESTER, type Bank } from './bank.ts'

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const BYTE_ORDER_MARK = '\ufeff'

/** Each character below U+0100 becomes one byte. */
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))

async function startWithMember() {
  const bank = await startBank()
  const { id } = await addMember(bank.sql, TESTER, bank.communityId, { name: 'Ada' })
  const token = await bank.token()
  const credit = (body: string | Uint8Array, type = JSON_TYPE) =>
    bank.call('/wallet/credit', { token, body, headers: { 'content-type': type } })
  return { bank, token, memberId: id, credit }
}

const tokenForm = ({ partner }: Bank) =>
  `grant_type=client_credentials&client_id=${partner.clientId}&client_secret=${partner.clientSecret}`

describe('a body that is not UTF-8', () => {
  test('two credits whose references differ only in bytes that are not UTF-8 are both rejected', async () => {
    const { bank, token, memberId, credit } = await startWithMember()
    for (const name of ['M\xfcller', 'M\xf6ller']) {
      const answer = await credit(latin1(`{"user_id":${memberId},"hours":1,"reference":"Rechnung ${name}"}`))
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: 'The body is not valid UTF-8.' },
      })
    }
    expect((await bank.call('/wallet/credits', { token })).body.data).toEqual([])
  })

  test('every kind of malformed sequence is rejected', async () => {
    const { memberId, credit } = await startWithMember()
    const malformed = {
      overlong: '\xc0\xaf',
      surrogate: '\xed\xa0\x80',
      'above U+10FFFF': '\xf4\x90\x80\x80',
      truncated: '\xe2\x82',
    }
    for (const [name, bytes] of Object.entries(malformed)) {
      const answer = await credit(latin1(`{"user_id":${memberId},"hours":1,"reference":"${bytes}"}`))
      expect(answer.status, name).toBe(400)
    }
  })

  test('what is valid UTF-8 is taken exactly as sent, with or without a byte order mark', async () => {
    const { memberId, credit } = await startWithMember()
    for (const reference of ['Rechnung Müller', '\u{1f600}', '\ufffd', 'e\u0301']) {
      const answer = await credit(JSON.stringify({ user_id: memberId, hours: 1, reference }))
      expect(answer).toMatchObject({ status: 201, body: { data: { reference, replayed: false } } })
    }
    const marked = `${BYTE_ORDER_MARK}{"user_id":${memberId},"hours":1,"reference":"marked"}`
    expect((await credit(marked)).status).toBe(201)
  })

  test('the console rejects it as well', async () => {
    const bank = await startBank()
    const admin = await addAdmin(bank)
    const headers = { 'content-type': JSON_TYPE }
    const answer = await admin.call('/members', { body: latin1('{"name":"M\xfcller"}'), headers })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
    expect(await bank.sql`select 1 from members`).toHaveLength(0)
  })

  test('forms are rejected for raw and for percent-encoded bytes, also at the revocation endpoint', async () => {
    const bank = await startBank()
    const headers = { 'content-type': FORM_TYPE }
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      for (const bytes of ['\xfc', '%fc', '%ED%A0%80']) {
        const answer = await bank.call(path, { body: latin1(`${tokenForm(bank)}&token=x&note=${bytes}`), headers })
        expect(answer, `${path} ${bytes}`).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
      }
    }
    const accepted = await bank.call('/oauth/token', { body: `${tokenForm(bank)}&note=%C3%BC`, headers })
    expect(accepted.status).toBe(200)
  })

  test('HTTP Basic credentials that are not UTF-8 are malformed, not just wrong', async () => {
    const bank = await startBank()
    const encoded = Buffer.from('M\xfcller:secret', 'latin1').toString('base64')
    const headers = { 'content-type': FORM_TYPE, authorization: `Basic ${encoded}` }
    const answer = await bank.call('/oauth/token', { body: 'grant_type=client_credentials', headers })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  })

  test('queries and paths with percent-encoded bytes that are not UTF-8 are rejected', async () => {
    const { bank, token } = await startWithMember()
    for (const path of ['/wallet/credits?reference=M%fcller', '/users/%fc', '/wallet/balance/1%fc']) {
      expect((await bank.call(path, { token })).status, path).toBe(400)
    }
  })

  test('CSV files that are said to be UTF-8 are rejected with the line, and nothing is imported', async () => {
    const bank = await startBank()
    const admin = await addAdmin(bank)
    const file = latin1('external_id,name,email\r\nK-1,Ada,\r\nK-2,M\xfcller,\r\n')
    const answer = await admin.call('/members/import?encoding=utf-8', {
      body: file,
      headers: { 'content-type': 'text/csv' },
    })
    expect(answer).toMatchObject({ status: 422, body: { error: 'validation_failed', errors: [{ field: 'file' }] } })
    expect(answer.body.error_description).toContain('Line 3')
    expect(await bank.sql`select 1 from members`).toHaveLength(0)
  })
})

const inLatin1 = (type: string) => ({ 'content-type': `${type}; charset=iso-8859-1` })

describe('a charset', () => {
  const ACCEPTED = ['utf-8', 'UTF-8', '"utf-8"', '"UTF-8"', 'utf8']
  const REJECTED = ['iso-8859-1', 'windows-1252', 'utf-16', 'us-ascii', 'utf-7', '""', '', 'utf-8; charset=utf-16']

  test('of UTF-8 is accepted in any spelling', async () => {
    const { memberId, credit } = await startWithMember()
    for (const [n, charset] of ACCEPTED.entries()) {
      const body = JSON.stringify({ user_id: memberId, hours: 1, reference: `tx-${n}` })
      expect((await credit(body, `${JSON_TYPE}; charset=${charset}`)).status, charset).toBe(201)
      expect((await credit(body, `${JSON_TYPE};x=y;Charset=${charset};z="a;b"`)).status, charset).toBe(200)
    }
  })

  test('other than UTF-8 is answered with 415', async () => {
    const { memberId, credit } = await startWithMember()
    const body = JSON.stringify({ user_id: memberId, hours: 1, reference: 'tx' })
    for (const charset of REJECTED) {
      const answer = await credit(body, `${JSON_TYPE}; charset=${charset}`)
      expect(answer, charset).toMatchObject({
        status: 415,
        body: { error: 'unsupported_media_type', error_description: 'Send the body in UTF-8.' },
      })
    }
  })

  test('other than UTF-8 is answered with 415 for forms, in the console and for CSV files', async () => {
    const bank = await startBank()
    const admin = await addAdmin(bank)
    const answers = [
      await bank.call('/oauth/token', { body: tokenForm(bank), headers: inLatin1(FORM_TYPE) }),
      await bank.call('/oauth/revoke', { body: tokenForm(bank), headers: inLatin1(FORM_TYPE) }),
      await admin.call('/members', { body: '{"name":"Ada"}', headers: inLatin1(JSON_TYPE) }),
      await admin.call('/members/import', { body: 'name\r\nAda\r\n', headers: inLatin1('text/csv') }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 415, 415])
    expect(await bank.sql`select 1 from members`).toHaveLength(0)
  })
})

describe('a key that is repeated', () => {
  test('in a credit is answered with 400, and nothing is credited', async () => {
    const { bank, token, memberId, credit } = await startWithMember()
    const fields = `"user_id":${memberId},"hours":1,"reference":"tx"`
    for (const body of [`{${fields},"hours":100}`, `{${fields},"\\u0068ours":1}`, `{${fields},"x":[{"a":1,"a":2}]}`]) {
      expect(await credit(body), body).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_request',
          error_description: 'An object in the JSON body has the same key more than once.',
        },
      })
    }
    expect((await bank.call('/wallet/credits', { token })).body.data).toEqual([])
  })

  test('is rejected at the oauth endpoints and in the console', async () => {
    const bank = await startBank()
    const admin = await addAdmin(bank)
    const headers = { 'content-type': JSON_TYPE }
    const { clientId, clientSecret } = bank.partner
    const grant = '"grant_type":"client_credentials"'
    const body = `{${grant},"client_id":"${clientId}","client_secret":"${clientSecret}",${grant}}`
    expect((await bank.call('/oauth/token', { body, headers })).status).toBe(400)
    expect((await admin.call('/members', { body: '{"name":"Ada","name":"Bo"}', headers })).status).toBe(400)
  })

  test('is not found where there is none: equal keys of different objects, keys within text', async () => {
    const { memberId, credit } = await startWithMember()
    const note = '{"hours":1,"hours":2} \\" : \\\\'
    const more = { a: { hours: 1 }, b: [{ hours: 1 }, { hours: 1 }], Hours: 1, '': {}, ':': '"' }
    const body = JSON.stringify({ user_id: memberId, hours: 1, reference: 'tx', note, ...more })
    expect(await credit(body)).toMatchObject({ status: 201, body: { data: { note } } })
  })
})
