import type { ReactNode } from 'react'

/** Drawn for this console: 20 × 20, one stroke, the colour of the text around. Always beside a word, so hidden. */
const PATHS = {
  overview: 'M3 10h4v7H3zM8 3h4v14H8zM13 7h4v10h-4z',
  partners: 'M3 17V7l7-4 7 4v10M3 17h14M7 17v-6M10 17v-6M13 17v-6',
  calls: 'M3 6h11M11 3l3 3-3 3M17 14H6M9 11l-3 3 3 3',
  webhooks: 'M10 3v4M10 7l-5 7M10 7l5 7M7 15h6',
  members: 'M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-3 2-5 5-5s5 2 5 5M13 4a3 3 0 0 1 0 5M14 12c2.500 .5 4 2.500 4 5',
  listings: 'M4 3h12v14H4zM7 7h6M7 10h6M7 13h3',
  exchanges: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l3 2',
  community: 'M3 9l7-6 7 6v8H3zM8 17v-5h4v5',
  audit: 'M5 3h7l3 3v11H5zM8 9h4M8 12h4',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1.500 1.500h-13zM8.500 17.500h3',
  check: 'M4 10.500l4 4 8-9',
  cross: 'M5 5l10 10M15 5L5 15',
  pause: 'M7 4v12M13 4v12',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l3 2',
  warning: 'M10 3l8 14H2zM10 8v4M10 14.500v.2',
  dot: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.500 13.500L17 17',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  download: 'M10 3v10M6 9l4 4 4-4M4 17h12',
  chevron: 'M6 8l4 4 4-4',
  person: 'M10 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c0-3 2.500-5 6-5s6 2 6 5',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { name: IconName; size?: number }): ReactNode {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
