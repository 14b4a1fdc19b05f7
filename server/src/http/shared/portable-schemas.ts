/**
 * Marks an enum of responses to which later versions may add. Programs of partners must accept any other text there;
 * the console must know all of them, because it always has the version of the service.
 */
export const EXTENSIBLE = { 'x-extensible': true } as const

type Reader = 'partners' | 'console'
type Schema = Record<string, unknown>

/**
 * Changes the schemas of an OpenAPI document into what generators of clients read right. The schemas that validate
 * requests and serialize responses stay as they are.
 */
export function makePortable<Description extends object>(document: Description, reader: Reader): Description {
  const visit = (node: unknown, areNames = false): unknown => {
    if (Array.isArray(node)) return node.map((part) => visit(part))
    if (typeof node !== 'object' || node === null) return node
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, value]) => {
        const isExample = !areNames && /^examples?$/.test(key)
        // The keys below `properties` are names of fields, and a field may be called examples or properties.
        return [key, isExample ? value : visit(value, !areNames && key === 'properties')]
      }),
    )
    return areNames ? copy : adaptSchema(copy, reader)
  }
  const { components, paths, webhooks } = document as Partial<Record<string, { schemas?: object }>>
  return {
    ...document,
    paths: visit(paths),
    ...(webhooks && { webhooks: visit(webhooks) }),
    ...(components && { components: { ...components, schemas: visit(components.schemas) } }),
  }
}

function adaptSchema({ 'x-extensible': isExtensible, ...schema }: Schema, reader: Reader): Schema {
  // Without a format, clients in Java, C#, Rust and Go have 32 bits, and those in Go single precision.
  if (schema.type === 'integer') return { ...schema, format: 'int64' }
  if (schema.type === 'number') return { ...schema, format: 'double' }
  const { enum: values, ...open } = schema
  if (!Array.isArray(values)) return schema
  // Clients in Python and Java compare the values of enums as text, and would reject every `true`.
  if (schema.type === 'boolean') return reader === 'partners' ? open : schema
  // Clients reject a response with a value that a closed enum lacks.
  if (isExtensible && reader === 'partners') {
    return { type: 'string', ...open, 'x-extensible-enum': values, examples: values }
  }
  // Without a type, clients of oapi-codegen crash when an optional parameter is omitted.
  return { type: 'string', ...schema }
}
