/** Returns the content of every file, by name. */
export function renderGuides(): Record<string, string>
