export interface Message {
  id: string
  /** The English text, in ICU syntax. */
  message: string
  context?: string | undefined
  comment?: string | undefined
  /** Under which the browser finds it, if not under the id. */
  key?: string
}
