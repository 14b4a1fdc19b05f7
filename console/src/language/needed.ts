const needed = new Set<string>()

/** Called by every file that has messages, at its end: the build adds the call. */
export function needMessages(area: string): void {
  needed.add(area)
}

/** The areas of all files that have been loaded so far. */
export function neededAreas(): string[] {
  return [...needed]
}
