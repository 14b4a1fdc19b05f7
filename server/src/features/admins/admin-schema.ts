import { Type } from 'typebox'
import { LANGUAGES } from '../../core/languages.ts'
import { Nullable, Time } from '../../http/console/admin-shapes.ts'
import { Version } from '../../http/console/versions.ts'

export const Role = Type.Enum(['owner', 'manager', 'viewer'], { title: 'Role' })

export const Language = Type.Enum([...LANGUAGES], { title: 'Language' })

export const Session = Type.Object(
  {
    session_id: Type.Integer(),
    admin: Type.Object({
      id: Type.Integer(),
      email: Type.String(),
      name: Type.String(),
      language: Nullable(Language),
    }),
    password_change_required: Type.Boolean(),
    second_factor: Type.Boolean({ description: 'Whether the person has one' }),
    owns_every_community: Type.Boolean({ description: 'Only such a person can make links for new passwords' }),
    communities: Type.Array(
      Type.Object(
        {
          slug: Type.String(),
          name: Type.String(),
          role: Role,
          test: Type.Boolean(),
          time_zone: Type.String(),
          language: Type.String(),
          second_factor_required: Type.Boolean(),
        },
        { title: 'Community' },
      ),
    ),
  },
  { title: 'Session' },
)

export const OpenSession = Type.Object(
  {
    id: Type.Integer(),
    current: Type.Boolean(),
    created_at: Time,
    last_seen_at: Time,
    address: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
  },
  { title: 'OpenSession' },
)

export const Administrator = Type.Object(
  {
    id: Type.Integer(),
    email: Type.String(),
    name: Type.String(),
    role: Role,
    created_at: Time,
    last_seen_at: Nullable(Type.String({ format: 'date-time', description: 'In this community' })),
    version: Version,
    second_factor: Nullable(
      Type.Boolean({ description: 'Whether they have one; null if the community does not require it' }),
    ),
  },
  { title: 'Administrator' },
)

export const Invitation = Type.Object(
  { id: Type.Integer(), email: Type.String(), name: Type.String(), role: Role, created_at: Time, expires_at: Time },
  { title: 'Invitation' },
)

export const Link = Type.Object(
  {
    url: Type.String({ description: 'Works once; shown only now' }),
    expires_at: Time,
  },
  { title: 'OneTimeLink' },
)
