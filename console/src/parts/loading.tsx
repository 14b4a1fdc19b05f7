import { t } from '@lingui/core/macro'
import { Skeleton, Stack } from '@mantine/core'

interface Props {
  /** What is being loaded, as its heading names it. */
  label: string
  /** About as high as what comes, so that nothing below moves; several for several parts. */
  height: number | readonly number[]
  /** Of a button. */
  width?: number
}

/** Keeps the place of what is loading, and says so to those who do not see it. */
export function Loading({ label, height, width }: Props) {
  return (
    <Stack gap="lg" w={width} role="status" aria-label={t`Loading: ${label}`}>
      {[height].flat().map((one, index) => (
        <Skeleton key={index} height={one} />
      ))}
    </Stack>
  )
}

/** Keeps the place of a button. */
export function ButtonLoading({ label }: { label: string }) {
  return <Loading label={label} height={36} width={136} />
}
