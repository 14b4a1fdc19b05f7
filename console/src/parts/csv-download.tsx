import { Button } from '@mantine/core'
import { useState } from 'react'
import { type Query, api, apiAddress, errorText } from '../api.ts'
import { Icon } from './icons.tsx'
import { notify } from './notices.tsx'
import { openDownload } from './save-file.ts'

interface Props {
  /** The path of the export, as for `api.get`. */
  path: string
  query?: Query
  children?: string
  /** Of personal data: asks for a fresh proof. */
  sensitive?: boolean
}

/** The browser streams the file to disk itself, however long. The session is asked first: a download cannot show a dialog. */
export function CsvDownload({ path, query, children = 'Export CSV', sensitive = false }: Props) {
  const [busy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      await api.get(sensitive ? '/session/proof' : '/session')
      openDownload(apiAddress(path, query))
    } catch (error) {
      notify(errorText(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="default" loading={busy} leftSection={<Icon name="download" />} onClick={() => void start()}>
      {children}
    </Button>
  )
}
