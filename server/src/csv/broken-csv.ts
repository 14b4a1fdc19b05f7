import { Refusal } from '../core/refusal.ts'

/** The file is not a valid table from this line on. */
export class BrokenCsv extends Refusal {
  constructor(
    readonly line: number,
    readonly problem: string,
  ) {
    super(`Line ${line}: ${problem}`)
  }
}
