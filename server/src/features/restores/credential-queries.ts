import type { Queries } from '../../postgres/connect.ts'

/** What the replaced database has since later versions only: public keys of clients, and second factors. */
export interface Credentials {
  client_keys: { community_id: number }[]
  key_addresses: { community_id: number }[]
  admins: object[]
  apps: object[]
  /** Undefined for a database from before there were passkeys: none can have been removed there. */
  passkeys?: object[] | undefined
  recovery_codes: object[]
  second_factor_required: { community_id: number }[]
}

/** Returns undefined for a database from before there were keys and second factors. */
export async function readCredentials(sql: Queries): Promise<Credentials | undefined> {
  const [known] = await sql<[{ is_known: boolean }]>`
    select to_regclass('client_keys') is not null and to_regclass('admin_apps') is not null as is_known`
  if (!known.is_known) return undefined
  const [row] = await sql<[{ credentials: Credentials }]>`
    select json_build_object(
      'client_keys', (select coalesce(json_agg(json_build_object('community_id', community_id, 'client_id', client_id,
          'thumbprint', thumbprint)), '[]') from client_keys),
      'key_addresses', (select coalesce(json_agg(json_build_object('community_id', community_id, 'client_id', id,
          'jwks_url', jwks_url, 'set_at', jwks_url_set_at)), '[]') from clients where jwks_url is not null),
      'admins', (select coalesce(json_agg(json_build_object('admin_id', id, 'email', email)), '[]') from admins),
      'apps', (select coalesce(json_agg(json_build_object('admin_id', p.admin_id, 'email', a.email, 'secret', p.secret,
          'last_step', p.last_step, 'created_at', p.created_at, 'active_since', p.active_since)), '[]')
        from admin_apps p join admins a on a.id = p.admin_id where p.active_since is not null),
      'recovery_codes', (select coalesce(json_agg(json_build_object('admin_id', r.admin_id, 'email', a.email,
          'code_hash', r.code_hash)), '[]') from admin_recovery_codes r join admins a on a.id = r.admin_id),
      'second_factor_required', (select coalesce(json_agg(json_build_object('community_id', id)), '[]')
        from communities where second_factor_required)
    ) as credentials`
  return { ...row.credentials, passkeys: await readPasskeys(sql) }
}

async function readPasskeys(sql: Queries): Promise<object[] | undefined> {
  const [known] = await sql<[{ is_known: boolean }]>`select to_regclass('admin_passkeys') is not null as is_known`
  if (!known.is_known) return undefined
  const [row] = await sql<[{ passkeys: object[] }]>`
    select coalesce(json_agg(to_jsonb(p) || jsonb_build_object('email', a.email)), '[]') as passkeys
    from admin_passkeys p join admins a on a.id = p.admin_id`
  return row.passkeys
}

/** A key that was removed because it leaked must not work again. Returns the communities, one for each key. */
export async function withdrawKeys(tx: Queries, shared: number[], replaced: object[]): Promise<number[]> {
  const rows = await tx<{ community_id: number }[]>`
    delete from client_keys k
    where k.community_id = any (${shared}::int8[]) and not exists (
      select 1 from json_to_recordset(${JSON.stringify(replaced)}::text::json)
        as r(community_id int8, client_id int8, thumbprint text)
      where r.community_id = k.community_id and r.client_id = k.client_id and r.thumbprint = k.thumbprint)
    returning k.community_id`
  return rows.map(({ community_id }) => community_id)
}

/** Keys are read from where they were published last. Returns the communities, one for each address. */
export async function moveKeyAddresses(tx: Queries, replaced: object[]): Promise<number[]> {
  const rows = await tx<{ community_id: number }[]>`
    update clients c set jwks_url = r.jwks_url, jwks_url_set_at = r.set_at
    from json_to_recordset(${JSON.stringify(replaced)}::text::json)
      as r(community_id int8, client_id int8, jwks_url text, set_at timestamptz)
    where c.community_id = r.community_id and c.id = r.client_id and c.authentication = 'jwks'
      and c.jwks_url <> r.jwks_url
    returning c.community_id`
  return rows.map(({ community_id }) => community_id)
}

/**
 * Second factors are those of the replaced database, as passwords are: one that was added after the backup is asked for
 * again, one that was removed no longer counts, and used recovery codes stay used. People that it does not know keep
 * what the backup has. Returns the number of apps that changed.
 */
export async function restoreSecondFactors(tx: Queries, replaced: Credentials): Promise<number> {
  const admins = JSON.stringify(replaced.admins)
  const apps = JSON.stringify(replaced.apps)
  await tx`
    delete from admin_recovery_codes where admin_id in (
      select a.id from json_to_recordset(${admins}::text::json) as r(admin_id int8, email text)
      join admins a on a.id = r.admin_id and lower(a.email) = lower(r.email))`
  await tx`
    insert into admin_recovery_codes (admin_id, code_hash)
    select a.id, r.code_hash
    from json_to_recordset(${JSON.stringify(replaced.recovery_codes)}::text::json) as r(admin_id int8, email text, code_hash bytea)
    join admins a on a.id = r.admin_id and lower(a.email) = lower(r.email)`
  const removed = await tx`
    delete from admin_apps p where p.admin_id in (
      select a.id from json_to_recordset(${admins}::text::json) as r(admin_id int8, email text)
      join admins a on a.id = r.admin_id and lower(a.email) = lower(r.email))
    and p.admin_id not in (select admin_id from json_to_recordset(${apps}::text::json) as r(admin_id int8))`
  const changed = await tx`
    insert into admin_apps (admin_id, secret, last_step, created_at, active_since)
    select a.id, r.secret, r.last_step, r.created_at, r.active_since
    from json_to_recordset(${apps}::text::json) as r(admin_id int8, email text, secret bytea, last_step int8,
      created_at timestamptz, active_since timestamptz)
    join admins a on a.id = r.admin_id and lower(a.email) = lower(r.email)
    on conflict (admin_id) do update set secret = excluded.secret, last_step = excluded.last_step,
      created_at = excluded.created_at, active_since = excluded.active_since
    where admin_apps.secret <> excluded.secret or admin_apps.active_since is null
      or admin_apps.last_step <> excluded.last_step`
  return removed.count + changed.count
}

/** The same for passkeys. Returns the number of passkeys that changed. */
export async function restorePasskeys(tx: Queries, replaced: Credentials): Promise<number> {
  if (!replaced.passkeys) return 0
  const passkeys = JSON.stringify(replaced.passkeys)
  const removed = await tx`
    delete from admin_passkeys p where p.admin_id in (
      select a.id from json_to_recordset(${JSON.stringify(replaced.admins)}::text::json) as r(admin_id int8, email text)
      join admins a on a.id = r.admin_id and lower(a.email) = lower(r.email))
    and p.credential_id not in (
      select credential_id from json_to_recordset(${passkeys}::text::json) as r(admin_id int8, credential_id bytea)
      where r.admin_id = p.admin_id)`
  const changed = await tx`
    insert into admin_passkeys (id, admin_id, name, credential_id, public_key, counter, transports, rp_id, created_at,
      last_used_at)
    select r.id, a.id, r.name, r.credential_id, r.public_key, r.counter, r.transports, r.rp_id, r.created_at,
      r.last_used_at
    from json_to_recordset(${passkeys}::text::json) as r(id int8, admin_id int8, email text, name text,
      credential_id bytea, public_key bytea, counter int8, transports text[], rp_id text, created_at timestamptz,
      last_used_at timestamptz)
    join admins a on a.id = r.admin_id and lower(a.email) = lower(r.email)
    on conflict (credential_id) do update set counter = excluded.counter, last_used_at = excluded.last_used_at
    where admin_passkeys.counter < excluded.counter`
  return removed.count + changed.count
}

/** Returns the communities that require a second factor again. */
export async function requireFactorsAgain(tx: Queries, replaced: object[]): Promise<number[]> {
  const rows = await tx<{ community_id: number }[]>`
    update communities c set second_factor_required = true
    from json_to_recordset(${JSON.stringify(replaced)}::text::json) as r(community_id int8)
    where c.id = r.community_id and not c.second_factor_required
    returning c.id as community_id`
  return rows.map(({ community_id }) => community_id)
}
