import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

/** One fenced block of a guide. */
export interface Block {
  language: string
  /** What follows the language: `no-run`, or nothing. */
  mark: string
  text: string
  /** Where it begins, counted from 1. */
  line: number
  /** The HTML comment right above it. */
  comment: string | undefined
  /** Whether it is one of several languages side by side: between the comments `tabs` and `/tabs`. */
  inTabs: boolean
}

export interface Guide {
  /** From the root of the repository: docs/webhooks.md */
  path: string
  text: string
  blocks: Block[]
}

const FENCED = /(?:^<!-- (?<comment>[^\n]*) -->\n\n?)?^```(?<language>\S*)(?: (?<mark>[^\n]*))?\n(?<text>.*?)^```$/gms

export function readGuide(path: string): Guide {
  const text = readFileSync(join(REPOSITORY, path), 'utf8')
  const blocks = [...text.matchAll(FENCED)].map(({ index, groups }) => ({
    language: groups!.language!,
    mark: groups!.mark ?? '',
    text: groups!.text!,
    comment: groups!.comment,
    line: text.slice(0, text.indexOf('```', index)).split('\n').length,
    inTabs: isInTabs(text.slice(0, text.indexOf('```', index))),
  }))
  return { path, text, blocks }
}

function isInTabs(before: string): boolean {
  return before.lastIndexOf('<!-- tabs -->') > before.lastIndexOf('<!-- /tabs -->')
}

/** The README, and every page in docs/, but for the decisions. */
export function readGuides(): Guide[] {
  const pages = readdirSync(join(REPOSITORY, 'docs')).filter((name) => name.endsWith('.md'))
  return ['README.md', ...pages.toSorted().map((name) => `docs/${name}`)].map(readGuide)
}

/** All Markdown below a folder, from the root of the repository. */
export function pagesBelow(folder: string): string[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

/** The prose, without what stands in fences. */
export function proseOf({ text }: Guide): string {
  return text.replaceAll(FENCED, '')
}

/** The cells of every row of the table below a heading, without the backticks. */
export function tableBelow({ path, text }: Guide, heading: string): string[][] {
  const [, section] = text.split(new RegExp(`^#+ ${heading}$`, 'm'))
  if (section === undefined) throw new Error(`${path} has no heading ${heading}`)
  const lines = section.split('\n')
  const first = lines.findIndex((line) => line.startsWith('|'))
  const after = lines.findIndex((line, n) => n > first && !line.startsWith('|'))
  // Below the names of the columns and the line under them.
  return lines.slice(first + 2, after).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}
