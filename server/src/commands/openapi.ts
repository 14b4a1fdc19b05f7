import { apiDescription } from '../describe.ts'
import { printJson, type Command } from './command.ts'

export const openapiCommand: Command = {
  name: 'openapi',
  usage: '',
  summary: 'Print the description of the partner API (OpenAPI 3.1)',
  options: {},
  run: async () => printJson(await apiDescription()),
}
