/** Scheme, credentials, hosts, and the rest from the database's name on. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#@]*)(.*)$/is

/**
 * Returns one address per host. PostgreSQL's addresses may name several hosts, each with its port
 * (postgres://user@db1:5432,db2:5433/name), which is not valid in other URLs.
 */
export function addressesOf(url: string): string[] {
  const [, start = '', hosts = '', end = ''] = PARTS.exec(url) ?? []
  return start === '' ? [url] : hosts.split(',').map((host) => `${start}${host}${end}`)
}
