/** A wish that cannot be met, in words for the person who had it: an administrator or someone at the command line. */
export class Refusal extends Error {}
