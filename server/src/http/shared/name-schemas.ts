import { isDeepStrictEqual } from 'node:util'

/**
 * Moves schemas with a title to the components, so that readers and generated code see one name for them. Descriptions
 * stay where the schema is used, because one shape may mean different things in different places.
 */
export function nameSchemas<Description extends object>(document: Description): Description {
  const named: Record<string, object> = {}
  const visit = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(visit)
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, /^examples?$/.test(key) ? value : visit(value)]),
    )
    if (typeof copy.title !== 'string') return copy
    const { title, description, ...shape } = copy
    if (named[title] && !isDeepStrictEqual(named[title], { title, ...shape })) {
      throw new Error(`two shapes are called ${title}`)
    }
    named[title] = { title, ...shape }
    return { $ref: `#/components/schemas/${title}`, ...(description !== undefined && { description }) }
  }
  const { components, paths, webhooks } = document as Partial<Record<string, { schemas?: object }>>
  const visited = { paths: visit(paths), ...(webhooks && { webhooks: visit(webhooks) }) }
  const schemas = { ...(visit(components?.schemas) as object), ...named }
  return { ...document, ...visited, components: { ...components, schemas } }
}
