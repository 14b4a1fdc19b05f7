import { t } from '@lingui/core/macro'
import { Skeleton, Stack } from '@mantine/core'

interface Props {
  /** What is being loaded, as its heading names it. */
  what: string
  /** About as high as what comes, so that nothing below moves; several for several parts. */
  height: number | readonly number[]
  /** Of a button. */
  width?: number
}

/** Keeps the place of what is loading, and says so to those who do not see it. */
export function Loading({ what, height, width }: Props) {
  return (
    <Stack gap="lg" w={width} role="status" aria-label={t`Loading: ${what}`}>
      {[height].flat().map((one, index) => (
        <Skeleton key={index} height={one} />
      ))}
    </Stack>
  )
}

/** Keeps the place of a button. */
export function ButtonLoading({ what }: { what: string }) {
  return <Loading what={what} height={36} width={136} />
}
