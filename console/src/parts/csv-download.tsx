import { t } from '@lingui/core/macro'
import { Suspense, useState } from 'react'
import { type Query, api, apiAddress, errorText } from '../api.ts'
import { BusyButton } from './busy-button.tsx'
import { Icon } from './icons.tsx'
import { lazyPart } from './lazy-dialog.tsx'
import { notifyFailure } from './notices.tsx'
import { openDownload } from './save-file.ts'

const ExportDialog = lazyPart(async () => (await import('./export-dialog.tsx')).ExportDialog)

interface Props {
  /** The path of the export, as for `api.get`. */
  path: string
  query?: Query
  children?: string
  /** Of personal data: asks for a fresh proof. */
  sensitive?: boolean
  /** Asks for the delimiter and the encoding first. */
  formats?: boolean
}

/** The browser streams the file to disk itself, however long. The session is asked first: a download cannot show a dialog. */
export function CsvDownload({ path, query, children = t`Export CSV`, sensitive = false, formats = false }: Props) {
  const [busy, setBusy] = useState(false)
  const [opened, setOpened] = useState<boolean>()
  const start = async (format?: Query) => {
    setBusy(true)
    try {
      await api.get(sensitive ? '/session/proof' : '/session')
      openDownload(apiAddress(path, { ...query, ...format }))
    } catch (error) {
      notifyFailure(errorText(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <BusyButton
        variant="default"
        loading={busy}
        leftSection={<Icon name="download" />}
        onClick={() => (formats ? setOpened(true) : void start())}
      >
        {children}
      </BusyButton>
      {opened !== undefined && (
        <Suspense>
          <ExportDialog
            opened={opened}
            onClose={() => setOpened(false)}
            onChosen={(format) => {
              setOpened(false)
              void start(format)
            }}
          />
        </Suspense>
      )}
    </>
  )
}
