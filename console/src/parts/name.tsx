/** A name that somebody typed. Isolated: a directional mark in it must not turn round the sentence it stands in. */
export function Name({ children }: { children: string }) {
  return <bdi>{children}</bdi>
}
