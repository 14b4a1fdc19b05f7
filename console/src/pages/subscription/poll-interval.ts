/** Deliveries are in progress while one looks. */
export const POLL_INTERVAL_MS = 5_000
