/** The progress of a long operation. */
export interface Progress {
  done: number
  /** An estimate, unless `unit` is bytes. */
  total: number | undefined
  /** The current step or table. */
  label: string
  unit?: 'rows' | 'bytes' | 'moves'
}
