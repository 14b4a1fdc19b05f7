import { createQuestion } from './parts/question.ts'

/** Asked when a call finds that the session has ended. */
export const sessionEnded = createQuestion()

/** Asked before a sensitive action. */
export const freshProof = createQuestion()
