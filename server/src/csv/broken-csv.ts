import type { Reason } from '../core/reasons.ts'
import { Refusal } from '../core/refusal.ts'

/** The file is not a valid table from this line on. */
export class BrokenCsv extends Refusal {
  readonly problem: string

  constructor(
    readonly line: number,
    reason: Reason,
  ) {
    // The console puts the line in front of the sentence, as the message here does.
    super({ ...reason, values: { ...reason.values, at_line: line }, message: `Line ${line}: ${reason.message}` })
    this.problem = reason.message
  }
}
