import { Trans } from '@lingui/react/macro'
import { formatNumber } from '../language/formats.ts'
import { Progress, Stack, Text } from '@mantine/core'

/** Long work that can be counted: '120 of 400 rows'. Announced politely, in words. */
export function WorkProgress({ label, done, total }: { label: string; done: number; total: number }) {
  const [finished, all] = [formatNumber(done), formatNumber(total)]
  const percent = total > 0 ? Math.min(100, Math.round((done / total) * 100)) : 0
  return (
    <Stack gap={4} role="status">
      <Text size="sm">
        <Trans>
          {label}: {finished} of {all}
        </Trans>
      </Text>
      <Progress value={percent} aria-label={label} />
    </Stack>
  )
}
