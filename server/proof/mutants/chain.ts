import type { Mutant } from './mutant.ts'

const CHAIN = 'features/ledger/chain-ledger.ts'
const HASH = 'features/ledger/hash-transfer.ts'
const QUERIES = 'features/ledger/queries.ts'
const VERIFY = 'features/ledger/verify-chain.ts'

/** The hash chain over the transfers, and its seals. */
export const CHAIN_OF_TRANSFERS: Mutant[] = [
  {
    breaks: 'a transfer that commits late is chained',
    file: CHAIN,
    replace: '> last.seen_at) return last.id',
    by: "> '') return last.id",
    tests: ['ledger-chain'],
    named: 'commits late',
  },
  {
    breaks: 'a hash depends on the link before it',
    file: HASH,
    replace: '`${previousHash}\\n${JSON.stringify(fields)}`',
    by: '`${previousHash.length}\\n${JSON.stringify(fields)}`',
    tests: ['ledger-chain'],
    named: 'computed by anyone',
  },
  {
    breaks: 'the time of a transfer is covered',
    file: HASH,
    replace: '    transfer.occurred_on,\n    transfer.created_at,\n',
    by: '    transfer.occurred_on,\n',
    tests: ['ledger-chain'],
    named: 'time',
  },
  {
    breaks: 'the owner of an account is covered',
    file: QUERIES,
    replace: "coalesce('member ' || a.member_id, 'partner ' || a.partner_id, a.kind)",
    by: 'a.kind',
    tests: ['ledger-chain'],
    named: 'owner of an account',
  },
  {
    breaks: 'a changed transfer is found',
    file: VERIFY,
    replace: 'if (hashTransfer(last.hash, communityId, row) === row.hash) return []',
    by: 'if (hashTransfer(last.hash, communityId, row) !== "") return []',
    tests: ['ledger-chain'],
    named: 'amount',
  },
  {
    breaks: 'a deleted transfer is found',
    file: VERIFY,
    replace: '  if (row.id === null) {\n    return [{',
    by: '  if (row.id === null) return []\n  if (row.id === -1) {\n    return [{',
    tests: ['ledger-chain'],
    named: 'a deleted transfer',
  },
  {
    breaks: 'an inserted transfer is found',
    file: VERIFY,
    replace: 'until: last.transfer_id, limit: listedMax',
    by: 'until: 0, limit: listedMax',
    tests: ['ledger-chain'],
    named: 'an inserted transfer',
  },
  {
    breaks: 'an inserted old transfer is not chained later',
    file: QUERIES,
    replace: 't.id > ${after} and t.id <= ${until}\n    order by t.id',
    by: `t.id <= \${until} and \${after} >= 0 and not exists (
      select from ledger_links l where l.community_id = t.community_id and l.transfer_id = t.id)
    order by t.id`,
    tests: ['ledger-chain'],
    named: 'an inserted transfer',
  },
  {
    breaks: 'an end that was cut off is found',
    file: VERIFY,
    replace: 'report(checkHead(head, last))',
    by: 'checkHead(head, last)',
    tests: ['ledger-chain'],
    named: 'cut off',
  },
  {
    breaks: 'one node at a time adds links',
    file: QUERIES,
    replace: 'for update ${wait ? tx`` : tx`skip locked`}`',
    by: '${wait ? tx`` : tx``}`',
    tests: ['ledger-chain'],
    named: 'at once make one chain|leaves a community',
  },
  {
    breaks: 'the next batch follows from the stored end',
    file: QUERIES,
    replace: "hash = decode(${last.hash}, 'hex'), chained_at = now()",
    by: "hash = decode(${links[0]!.hash}, 'hex'), chained_at = now()",
    tests: ['ledger-chain'],
    named: 'goes on where it was stopped',
  },
  {
    breaks: 'a seal is compared',
    file: VERIFY,
    replace: 'if (link.hash === hash) return []',
    by: "if (link.hash !== '') return []",
    tests: ['ledger-seal'],
    named: 'written again',
  },
  {
    breaks: 'a chain that ends before a seal is found',
    file: VERIFY,
    replace: 'for (const seal of unseen) report(checkUnseen(seal, last))',
    by: '',
    tests: ['ledger-seal'],
    named: 'restore of an older',
  },
  {
    breaks: 'a sealed community that is gone is reported',
    file: 'cli/ledger.ts',
    replace: 'const lost = seals.filter(({ community }) => !known.has(community))',
    by: 'const lost = seals.filter(({ community }) => known.has(community) && community === "")',
    tests: ['ledger-seal'],
    named: 'gone',
  },
  {
    breaks: 'statements carry the end of the chain',
    file: 'features/members/admin-routes.ts',
    replace: '          complete: shown.length === rows.length,\n          ledger_head: head ?? null,',
    by: '          complete: shown.length === rows.length,\n          ledger_head: head && null ? head : null,',
    tests: ['service-statement'],
    named: 'hash chain',
  },
  {
    breaks: 'the job does not take an open transaction for a finished one',
    file: 'features/ledger/chain-job.ts',
    replace: 'chainedUpTo = isOpen || communities.length > 0 ? undefined : last',
    by: 'chainedUpTo = communities.length > 0 ? undefined : last',
    tests: ['ledger-chain'],
    named: 'was open when',
  },
]
