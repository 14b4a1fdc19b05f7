import { Checkbox, Kbd, Modal, Stack, Table, Text } from '@mantine/core'
import { useState } from 'react'
import { GO_TO_KEY, PAGES } from './pages.ts'
import { areSingleKeysOn, switchSingleKeys } from './shortcuts.tsx'

const SHORTCUTS: readonly { keys: string[]; text: string }[] = [
  { keys: ['Ctrl', 'K'], text: 'Search pages, members and partners, and start something' },
  { keys: ['?'], text: 'Show this list' },
  ...PAGES.map(({ key, label }) => ({ keys: [GO_TO_KEY, key], text: `Go to ${label}` })),
]

export default function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areSingleKeysOn)
  return (
    <Modal opened onClose={onClose} title="Keyboard shortcuts">
      <Stack>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Keys</Table.Th>
              <Table.Th scope="col">What they do</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {SHORTCUTS.map(({ keys, text }) => (
              <Table.Tr key={text}>
                <Table.Td>
                  {keys.map((key) => (
                    <Kbd key={key} mr={4}>
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
          label="Keys without Ctrl work"
          description="Switch them off if you speak to your computer, or press them by mistake. The menu of your account opens this list all the same."
          checked={isOn}
          onChange={(event) => {
            setOn(event.currentTarget.checked)
            switchSingleKeys(event.currentTarget.checked)
          }}
        />
        <Text size="sm" c="dimmed">
          Tab, Shift-Tab, Enter and Escape work everywhere as usual.
        </Text>
      </Stack>
    </Modal>
  )
}
