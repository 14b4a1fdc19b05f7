import { printJson, type Command } from './command.ts'

export const openapiCommand: Command = {
  name: 'openapi',
  usage: '',
  summary: 'Print the description of the partner API (OpenAPI 3.1)',
  async run() {
    // Imported on demand: the web server takes half a second to load, and most commands do not need it.
    const { apiDescriptions } = await import('./describe.ts')
    printJson((await apiDescriptions()).partner)
  },
}
