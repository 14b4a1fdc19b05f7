import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Checkbox, Kbd, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { translate } from '../language/translate.ts'
import { Modal } from '../parts/dialog.tsx'
import { GO_TO_KEY, PAGES } from './pages.ts'
import { areSingleKeysOn, switchSingleKeys } from './shortcuts.tsx'

function shortcuts(): { keys: string[]; text: string }[] {
  return [
    { keys: [t`Ctrl`, 'K'], text: t`Search pages, members and partners, and start something` },
    { keys: ['?'], text: t`Show this list` },
    ...PAGES.map(({ key, label }) => {
      const page = translate(label)
      return { keys: [GO_TO_KEY, key], text: t`Go to ${page}` }
    }),
  ]
}

export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areSingleKeysOn)
  return (
    <Modal opened onClose={onClose} title={t`Keyboard shortcuts`}>
      <Stack>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">
                <Trans>Keys</Trans>
              </Table.Th>
              <Table.Th scope="col">
                <Trans>What they do</Trans>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shortcuts().map(({ keys, text }) => (
              <Table.Tr key={text}>
                <Table.Td>
                  {keys.map((key) => (
                    <Kbd key={key} me={4}>
                      {key}
                    </Kbd>
                  ))}
                </Table.Td>
                <Table.Td>{text}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Checkbox
          label={t`Keys without Ctrl work`}
          description={t`Switch them off if you speak to your computer, or press them by mistake. The menu of your account opens this list anyway.`}
          checked={isOn}
          onChange={(event) => {
            setOn(event.currentTarget.checked)
            switchSingleKeys(event.currentTarget.checked)
          }}
        />
        <Text size="sm" c="dimmed">
          <Trans>Tab, Shift-Tab, Enter and Escape work everywhere as usual.</Trans>
        </Text>
      </Stack>
    </Modal>
  )
}
