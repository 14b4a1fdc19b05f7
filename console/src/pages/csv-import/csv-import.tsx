import { t } from '@lingui/core/macro'
import { Stack } from '@mantine/core'
import { type ReactNode, Suspense, useState } from 'react'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { ChooseFile } from './choose-file.tsx'
import type { ImportKind } from './import-kind.ts'
import type { Reading } from './reading-choices.ts'
import type { ImportResult, InspectedFile } from '../../wire.ts'

// The first step is shown without them.
const MapColumns = lazyPart(async () => (await import('./map-columns.tsx')).MapColumns)
const Preview = lazyPart(async () => (await import('./preview.tsx')).Preview)
const Result = lazyPart(async () => (await import('./result.tsx')).Result)

type Step =
  | { name: 'choose'; isAgain: boolean }
  | { name: 'map'; file: File; look: InspectedFile; reading?: Reading | undefined }
  | { name: 'preview'; file: File; look: InspectedFile; reading?: Reading; preview: ImportResult }
  | { name: 'done'; result: ImportResult }

/** Choose a file, say which column is which, see what would become of every row, and only then write it. */
export function CsvImport({ kind, back }: { kind: ImportKind; back: ReactNode }) {
  const [step, setStep] = useState<Step>({ name: 'choose', isAgain: false })
  const restart = () => setStep({ name: 'choose', isAgain: true })
  return (
    <Stack gap="lg">
      {step.name === 'choose' && (
        <ChooseFile
          kind={kind}
          isAgain={step.isAgain}
          onPreview={(file, look, preview) => setStep({ name: 'preview', file, look, preview })}
          onUnclear={(file, look) => setStep({ name: 'map', file, look })}
        />
      )}
      <Suspense fallback={<Loading label={t`Preview`} height={480} />}>
        {step.name === 'map' && (
          <MapColumns
            kind={kind}
            file={step.file}
            look={step.look}
            emptyCells={step.reading?.empty_cells}
            onPreview={(reading, preview) =>
              setStep({ name: 'preview', file: step.file, look: { ...step.look, ...reading }, reading, preview })
            }
            onRestart={restart}
          />
        )}
        {step.name === 'preview' && (
          <Preview
            kind={kind}
            file={step.file}
            reading={step.reading}
            preview={step.preview}
            onDone={(result) => setStep({ name: 'done', result })}
            onMap={() => setStep({ name: 'map', file: step.file, look: step.look, reading: step.reading })}
            onRestart={restart}
          />
        )}
        {step.name === 'done' && <Result kind={kind} result={step.result} onRestart={restart} back={back} />}
      </Suspense>
    </Stack>
  )
}
