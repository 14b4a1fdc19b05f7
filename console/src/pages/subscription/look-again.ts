/** Deliveries are on their way while one looks. */
export const LOOK_AGAIN_MS = 5_000
