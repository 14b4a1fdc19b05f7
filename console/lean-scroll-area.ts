import type { Plugin } from 'vite'

/**
 * Every dialog brings Mantine's ScrollArea, and that takes one small function from @floating-ui/react, a single file. As
 * soon as any page uses a menu or a select, all of that file would be in the scripts that every visitor loads: 15 KB
 * (gzip). Mantine's own hook does the same; should ScrollArea ever ask for more, the build fails for want of an export.
 */
export function leanScrollArea(): Plugin {
  const REPLACEMENT = '\0lean-scroll-area'
  return {
    name: 'lean-scroll-area',
    enforce: 'pre',
    resolveId(source, importer) {
      const isScrollArea = importer?.endsWith('/ScrollArea/ScrollArea.mjs') ?? false
      return isScrollArea && source === '@floating-ui/react' ? REPLACEMENT : undefined
    },
    load(id) {
      if (id !== REPLACEMENT) return undefined
      return `import { useMergedRef } from '@mantine/hooks'\nexport const useMergeRefs = (refs) => useMergedRef(...refs)`
    },
  }
}
