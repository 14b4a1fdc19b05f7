import { useQuery } from '@tanstack/react-query'
import { whenConnected } from '../connection.ts'

/** Light squares around the code, which cameras need to find it. */
const BORDER = 4

interface Props {
  text: string
  /** Says what the code holds, for screen readers. */
  label: string
  /** In pixels. */
  size: number
  /** How much of a damaged code can be restored: M a seventh, L half of that. */
  correction?: 'L' | 'M'
}

/** Made in the browser: the text reaches no other service. Black on white in the dark too, as cameras expect. */
export function QrCode({ text, label, size, correction = 'L' }: Props) {
  const code = useQuery({
    queryKey: ['qr', text, correction],
    gcTime: 0,
    queryFn: async () => {
      const { encode } = await whenConnected(() => import('uqr'))
      const { data, size: squares } = encode(text, { border: BORDER, ecc: correction, boostEcc: false })
      const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
      return { path: dark.join(''), squares }
    },
  })
  if (!code.data) return null
  const { path, squares } = code.data
  return (
    <svg role="img" aria-label={label} width={size} height={size} viewBox={`0 0 ${squares} ${squares}`}>
      <rect width={squares} height={squares} fill="white" />
      <path d={path} fill="black" shapeRendering="crispEdges" />
    </svg>
  )
}
