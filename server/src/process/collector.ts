import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'

/**
 * How far the old generation may grow before the next full collection. On a machine with much memory V8 waits too long:
 * under load, 45 to 80 MB were live and 230 MB retained. Decision 14 has the figures.
 */
const GROWING_PERCENT = 40

/**
 * Sets V8's memory flags at run time, so that they apply however the process was started.
 *
 * Allocation-site pretenuring is off. If many connections arrive first, V8 starts to allocate parts of a request in the
 * old generation, where they keep the rest of the request from being collected young for the life of the process: a
 * short request took 60 to 70 µs of CPU time instead of 40.
 *
 * WebAssembly is not optimized. The parser for webhook responses is one long function; optimizing it took 35 MB for a
 * moment, at the first deliveries, without making them faster.
 */
export function tuneCollector(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
  setFlagsFromString('--no-allocation-site-pretenuring')
  setFlagsFromString('--liftoff-only')
  keepTickShape()
}

const kept: object[] = []

/**
 * Keeps one of the objects that Node makes for every `process.nextTick`, of which a request needs about ten. Once a full
 * collection finds none of them, V8 forgets their shape, and its compiled code asks the runtime to build each further
 * one: 4 to 7 % of the CPU time of a short request.
 */
function keepTickShape(): void {
  // Not with an async hook: after one was enabled, even briefly, awaiting takes a quarter longer in this process.
  process.nextTick(() => kept.push(executionAsyncResource()))
}
