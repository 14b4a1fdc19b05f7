import { texts } from '../../search-params.ts'

export const subscriptionSearch = texts('status', 'event', 'from', 'until', 'delivery')
