import type { Community } from '../wire.ts'

/** The name, with the slug where another of these communities has the same name. */
export function communityName({ name, slug }: Community, communities: Community[]): string {
  const isShared = communities.some((other) => other.slug !== slug && other.name === name)
  return isShared ? `${name} (${slug})` : name
}
