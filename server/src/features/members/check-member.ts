import { Refusal, type FieldProblem } from '../../core/refusal.ts'
import type { NewMember } from './queries.ts'

const NAME_LENGTH_MAX = 200
const EMAIL_LENGTH_MAX = 254
const EXTERNAL_ID_LENGTH_MAX = 100
const EMAIL = /^[^\s@\p{Cc}]{1,64}@[^\s@\p{Cc}]+$/u

/** Validates the given fields and reports every problem at once. */
export function checkMember<Input extends Partial<NewMember>>(input: Input): Input {
  const problems = memberProblems(input)
  if (problems.length > 0) throw new Refusal(problems.map(({ message }) => message).join(' '), { problems })
  return input
}

export function memberProblems({ name, email, external_id }: Partial<NewMember>): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (name !== undefined && (!isLine(name, NAME_LENGTH_MAX) || name.trim() === '')) {
    problems.push({ field: 'name', message: `The name must have 1 to ${NAME_LENGTH_MAX} characters.` })
  }
  if (email && (!EMAIL.test(email) || !isLine(email, EMAIL_LENGTH_MAX))) {
    problems.push({ field: 'email', message: 'The email address is not one.' })
  }
  if (email === '') problems.push({ field: 'email', message: 'The email address is empty.' })
  if (
    external_id !== undefined &&
    external_id !== null &&
    (!external_id || !isLine(external_id, EXTERNAL_ID_LENGTH_MAX))
  ) {
    problems.push({
      field: 'external_id',
      message: `The external id must have 1 to ${EXTERNAL_ID_LENGTH_MAX} characters.`,
    })
  }
  return problems
}

/** Whether the text is one line: no control characters, and at most `lengthMax` code points. */
export function isLine(text: string, lengthMax: number): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text) && [...text].length <= lengthMax
}
