import type { Agent, Dispatcher } from 'undici'

/**
 * An agent that is replaced from time to time, so that no connection grows older: a busy one would be kept for days, also
 * to the former address of a receiver that has moved. What is under way is finished by the agent that began it.
 */
export function renewedAgent(create: () => Agent, everyMs: number): Pick<Dispatcher, 'dispatch' | 'destroy'> {
  let agent = create()
  const retired = new Set<Agent>()
  const timer = setInterval(() => {
    const former = agent
    agent = create()
    retired.add(former)
    void former.close().finally(() => retired.delete(former))
  }, everyMs).unref()

  return {
    dispatch: (options, handler) => agent.dispatch(options, handler),
    async destroy() {
      clearInterval(timer)
      await Promise.all([agent, ...retired].map((one) => one.destroy()))
    },
  }
}
