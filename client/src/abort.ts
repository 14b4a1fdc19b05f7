import { HourbankError } from './errors.ts'

/** One listener per signal, shared by all calls that use it: Node warns of a leak at the eleventh. */
const listeners = new WeakMap<AbortSignal, { stops: Set<() => void>; listen: () => void }>()

/** Calls `stop` when the signal aborts. Returns a function that cancels this. */
export function onAbort(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (!signal) return () => undefined
  const { stops, listen } = listeners.get(signal) ?? startListening(signal)
  stops.add(stop)
  return () => {
    stops.delete(stop)
    if (stops.size > 0) return
    signal.removeEventListener('abort', listen)
    listeners.delete(signal)
  }
}

function startListening(signal: AbortSignal) {
  const stops = new Set<() => void>()
  const listen = () => {
    for (const stop of stops) stop()
  }
  const listener = { stops, listen }
  listeners.set(signal, listener)
  signal.addEventListener('abort', listen)
  return listener
}

export function aborted(signal: AbortSignal | undefined): HourbankError {
  return new HourbankError('aborted', 'The call was aborted.', { cause: signal?.reason })
}
