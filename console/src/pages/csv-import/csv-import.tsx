import { Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ChooseFile } from './choose-file.tsx'
import type { ImportKind } from './import-kind.ts'
import { Preview } from './preview.tsx'
import { Result } from './result.tsx'
import type { ImportResult } from '../../wire.ts'

type Step =
  { name: 'choose' } | { name: 'preview'; file: File; preview: ImportResult } | { name: 'done'; result: ImportResult }

/** Choose a file, see what would become of every row, and only then write it. */
export function CsvImport({ kind, back }: { kind: ImportKind; back: ReactNode }) {
  const [step, setStep] = useState<Step>({ name: 'choose' })
  const restart = () => setStep({ name: 'choose' })
  return (
    <Stack gap="lg">
      {step.name === 'choose' && (
        <ChooseFile kind={kind} onPreview={(file, preview) => setStep({ name: 'preview', file, preview })} />
      )}
      {step.name === 'preview' && (
        <Preview
          kind={kind}
          file={step.file}
          preview={step.preview}
          onDone={(result) => setStep({ name: 'done', result })}
          onRestart={restart}
        />
      )}
      {step.name === 'done' && <Result kind={kind} result={step.result} onRestart={restart} back={back} />}
    </Stack>
  )
}
