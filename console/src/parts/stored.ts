/** What this browser keeps. Storage can be forbidden; then the console does without. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    return null
  }
}

export function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value)
  } catch {
    // It is asked for again with the next visit.
  }
}
