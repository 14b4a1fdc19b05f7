import { t } from '@lingui/core/macro'
import { FileInput } from '@mantine/core'
import { useState } from 'react'

const TEXT_BYTES_MAX = 20 * 1024 * 1024

interface Props {
  label: string
  description?: string
  /** As in the file dialog: `.csv,text/csv`. */
  accept?: string
  error?: string | undefined
  onText: (text: string, fileName: string) => void
}

/** A text file chosen from disk, read in the browser. */
export function FileField({ label, description, accept = '.csv,text/csv', error, onText }: Props) {
  const [file, setFile] = useState<File | null>(null)
  const [problem, setProblem] = useState<string>()
  const read = async (chosen: File | null) => {
    setFile(chosen)
    setProblem(undefined)
    if (!chosen) return
    if (chosen.size > TEXT_BYTES_MAX)
      return setProblem(t`The file is larger than 20 MB. Split it and import the parts.`)
    try {
      onText(await chosen.text(), chosen.name)
    } catch {
      setProblem(t`The file could not be read. Choose it again.`)
    }
  }
  return (
    <FileInput
      label={label}
      description={description}
      placeholder={t`Choose a file`}
      accept={accept}
      clearable
      clearButtonProps={{ 'aria-label': t`Remove the file` }}
      value={file}
      error={problem ?? error}
      onChange={(chosen) => void read(chosen)}
    />
  )
}
