/** A value that is mostly there already, and has to be waited for otherwise. */
export type Awaitable<T> = T | Promise<T>

/**
 * Goes on with the value at once if it is there. For the path of every partner call, where each `await` costs about as
 * much as the check before it.
 */
export function andThen<T, U>(value: Awaitable<T>, proceed: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(proceed) : proceed(value)
}
