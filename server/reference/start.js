// Runs in the browser as it is, without a build step.
const state = document.getElementById('state')

try {
  window.Scalar.createApiReference('#reference', {
    content: await readDescription(),
    // Everything that would call another host, and everything that would keep a secret in the browser.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    proxyUrl: '',
    persistAuth: false,
    // Neither the console's cookie goes along, nor does a browser answer our challenge (401, Basic) with a prompt.
    customFetch: (input, init) => fetch(input, { ...init, credentials: 'omit' }),
    orderSchemaPropertiesBy: 'preserve',
    authentication: { preferredSecurityScheme: 'clientCredentials' },
  })
  state.remove()
} catch (error) {
  state.textContent = `The API reference could not be loaded: ${error.message}`
}

/** Calls go to wherever this page came from: the policy allows no other host, and PUBLIC_URL may not be reachable from here. */
async function readDescription() {
  const response = await fetch('/openapi.json')
  if (!response.ok) throw new Error(`/openapi.json answers ${response.status}.`)
  const description = await response.json()
  const { clientCredentials } = description.components.securitySchemes.clientCredentials.flows
  clientCredentials.tokenUrl = location.origin + new URL(clientCredentials.tokenUrl).pathname
  description.servers = [{ url: location.origin }]
  return description
}
