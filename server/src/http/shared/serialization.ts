import fastJsonStringify from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

type Serialize = ReturnType<FastifySerializerCompiler<object>>

/** Keyed by the schema's text: routes share shapes, and all apps of one process share all of them. */
const serializers = new Map<string, Serialize>()

/** Fastify's own compiler builds a serializer per route and app, used or not. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  const key = JSON.stringify(schema)
  const serialize = serializers.get(key) ?? createSerializer(schema)
  serializers.set(key, serialize)
  return serialize
}

/** Compiles at the first output, like the validators of input. */
function createSerializer(schema: object): Serialize {
  let serialize: Serialize | undefined
  return (data) => (serialize ??= fastJsonStringify(schema))(data)
}
