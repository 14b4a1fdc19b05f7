import { Trans } from '@lingui/react/macro'
import { Badge, Checkbox, Group, Stack } from '@mantine/core'
import type { ReactNode } from 'react'
import { translate } from '../../language/translate.ts'
import { SCOPES } from './scopes.ts'

interface Props {
  label: string
  value: string[]
  error: ReactNode
  onChange: (value: string[]) => void
  /** Only these can be chosen; all if absent. */
  among?: readonly string[]
}

/** Rights in plain words; what is about people is marked. */
export function ScopesField({ label, value, error, onChange, among }: Props) {
  const offered = SCOPES.filter(({ name }) => !among || among.includes(name))
  return (
    <Checkbox.Group label={label} value={value} error={error} onChange={onChange}>
      <Stack gap="sm" mt="xs" mb={error ? 'xs' : 0}>
        {offered.map(({ name, label: right, explanation, personal }) => (
          <Checkbox
            key={name}
            value={name}
            description={translate(explanation)}
            label={
              <Group component="span" gap="xs">
                {translate(right)}
                {personal && (
                  <Badge component="span" color="yellow">
                    <Trans>Personal data</Trans>
                  </Badge>
                )}
              </Group>
            }
          />
        ))}
      </Stack>
    </Checkbox.Group>
  )
}
