import { Refusal, type FieldProblem } from '../../core/refusal.ts'
import { FIELD_NAMES, findProblem, type MemberFields } from './fields.ts'

/** Validates the given fields and reports every problem at once. */
export function checkMember<Input extends Partial<MemberFields>>(input: Input): Input {
  const problems = memberProblems(input)
  if (problems.length > 0) throw new Refusal(problems)
  return input
}

export function memberProblems(input: Partial<MemberFields>): FieldProblem[] {
  return FIELD_NAMES.flatMap((field) => {
    const value = input[field]
    const reason = typeof value === 'string' ? findProblem[field](value) : undefined
    return reason === undefined ? [] : [{ field, reason }]
  })
}
