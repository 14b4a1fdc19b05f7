/** The part of JSON Schema that the descriptions of the APIs use. Other keywords only narrow a type. */
export interface Schema {
  $ref?: string
  description?: string
  type?: string
  format?: string
  const?: unknown
  enum?: unknown[]
  /** The known ones of texts to which later versions may add. */
  'x-extensible-enum'?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  /** A record. */
  additionalProperties?: Schema | boolean
  patternProperties?: Record<string, Schema>
}

export interface Operation {
  operationId?: string
  parameters?: { in: string; name: string; required?: boolean; description?: string; schema: Schema }[]
}

export interface EventOperation {
  description: string
  requestBody: { content: { 'application/json': { schema: Schema } } }
}

export interface Document {
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, { post: EventOperation }>
  components: {
    schemas: Record<string, Schema>
    securitySchemes: { clientCredentials?: { flows: { clientCredentials: { scopes: Record<string, string> } } } }
  }
}

/** The codes of the kinds of errors, in their order; none if the document does not tell errors apart by code. */
export function errorCodes({ schemas }: Document['components']): string[] {
  const kinds = (schemas.Error?.anyOf ?? []).map(({ $ref }) => schemas[$ref!.split('/').at(-1)!]!)
  return kinds.flatMap(({ properties }) => {
    const { enum: codes = [], 'x-extensible-enum': known = [] } = properties!.error!
    return [...(codes as string[]), ...known]
  })
}

/** The schema of the values of a record, if it has one. */
export function objectValues({ additionalProperties, patternProperties }: Schema): Schema | undefined {
  const values = patternProperties ? Object.values(patternProperties)[0] : additionalProperties
  return typeof values === 'object' ? values : undefined
}
