import { type Readiness, useReadiness } from './readiness.ts'

const STATE_TEXT: Record<Readiness, string> = {
  checking: 'Asking the service …',
  ready: 'The service is ready.',
  not_ready: 'The service is running but not ready: its database is away or still being prepared.',
  unreachable: 'The service does not answer. It may be stopped or restarting.',
}

export function Home() {
  return (
    <main>
      <header>
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width="48" height="48" />
        <h1>Hourbank</h1>
        <p className="lead">Members exchange services by the hour, and partners connect to them through an API.</p>
      </header>

      <State />

      <section aria-labelledby="partners">
        <h2 id="partners">Partners and credentials</h2>
        <p>For now they are managed on the command line, in the folder of the service:</p>
        <Command text="npx hourbank partner create --community SLUG --name NAME" />
        <p>
          It prints a client id and a client secret. The secret is shown only once.{' '}
          <code>npx hourbank community list</code> names the communities.
        </p>
      </section>

      <section aria-labelledby="token">
        <h2 id="token">Get a token</h2>
        <p>Exchange the client id and secret for a token. It is valid for one hour.</p>
        <Command text={tokenCommand(window.location.origin)} />
        <p>
          Send it with every call as <code>Authorization: Bearer ACCESS_TOKEN</code>.
        </p>
      </section>

      <nav aria-label="For developers">
        <h2>For developers</h2>
        <ul>
          <li>
            <a href="/docs/">API reference</a>
          </li>
          <li>
            <a href="/openapi.json">API description (OpenAPI)</a>
          </li>
          <li>
            <a href="/.well-known/oauth-authorization-server">OAuth server metadata</a>
          </li>
        </ul>
      </nav>
    </main>
  )
}

function State() {
  const readiness = useReadiness()
  return (
    <p className="state" data-state={readiness} role="status">
      <span className="dot" aria-hidden="true" />
      {STATE_TEXT[readiness]}
    </p>
  )
}

/** Wraps instead of scrolling: a box that scrolls sideways would need its own place in the tab order. */
function Command({ text }: { text: string }) {
  return (
    <pre>
      <code>{text}</code>
    </pre>
  )
}

function tokenCommand(origin: string): string {
  return [
    `curl ${origin}/api/partner/v1/oauth/token`,
    `-u CLIENT_ID:CLIENT_SECRET`,
    `-d grant_type=client_credentials`,
  ].join(' \\\n  ')
}
