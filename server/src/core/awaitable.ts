/** A value that is usually available at once, otherwise a promise of it. */
export type Awaitable<T> = T | Promise<T>

/**
 * Hot path: continues without a promise if the value is available, because each `await` costs about as much as the check
 * before it.
 */
export function andThen<T, U>(value: Awaitable<T>, proceed: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(proceed) : proceed(value)
}
