/** How far long work has come. */
export interface Progress {
  done: number
  /** An estimate, unless `unit` is bytes. */
  total: number | undefined
  /** What is being worked on. */
  label: string
  unit?: 'rows' | 'bytes'
}
