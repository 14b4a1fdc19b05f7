import { parseId } from '../http/shared/ids.ts'
import { eraseMember } from '../features/members/erase-member.ts'
import { readErasures, writeErasureFile } from '../features/members/erasure-list.ts'
import { findOfficeMember } from '../features/members/admin-queries.ts'
import { Refusal } from '../core/refusal.ts'
import { commandActor, print, printJson, requireCommunity, requireText, withTables, type Command } from './command.ts'

export const erasureCommands: Command[] = [
  {
    name: 'members erase',
    usage: '--community SLUG --id MEMBER_ID --yes [--json]',
    summary: 'Erase a person everywhere, permanently; the hours stay in the books without a name',
    run: ({ config, values }) =>
      withTables(config, async (sql) => {
        const id = parseId(requireText(values, 'id'))
        if (id === undefined) throw new Refusal('--id must be the id of a member.')
        const community = await requireCommunity(sql, values)
        const member = await findOfficeMember(sql, community.id, id)
        if (!member || member.erased_at !== null) throw new Refusal(`There is no member ${id} in ${community.slug}.`)
        if (values.yes !== true) {
          throw new Refusal(`This erases ${member.name} permanently and cannot be undone. To continue, add --yes.`)
        }
        await eraseMember(sql, commandActor(), community.id, id)
        if (values.json) return printJson({ member_id: id, status: 'erased' })
        print(`Member ${id} is erased.`)
      }),
  },
  {
    name: 'erasures export',
    usage: 'FILE [--json]',
    summary: 'Write the ids of erased members to a file, so that a restore can erase them again',
    run: ({ config, values, positionals: [file] }) =>
      withTables(config, async (sql) => {
        if (!file) throw new Refusal('Name the file to write.')
        const erasures = await readErasures(sql)
        await writeErasureFile(file, erasures)
        if (values.json) return printJson({ file, erasures: erasures.length })
        print(`Wrote ${erasures.length} erasures to ${file}.`)
      }),
  },
]
