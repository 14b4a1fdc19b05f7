import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Fieldset, Group, NativeSelect, SimpleGrid, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { formatList, formatNumber } from '../../language/formats.ts'
import { translate, translated } from '../../language/translate.ts'
import { BusyButton } from '../../parts/busy-button.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import type { ImportResult, InspectedFile } from '../../wire.ts'
import type { ImportColumn, ImportKind } from './import-kind.ts'
import {
  DATE_ORDERS,
  DECIMALS,
  DELIMITERS,
  EMPTY_CELLS,
  ENCODINGS,
  formatColumns,
  headerNames,
  parseColumns,
  type Chosen,
  type Reading,
} from './reading-choices.ts'
import { inspectFile, sendFile } from './send-file.ts'

interface Props {
  kind: ImportKind
  file: File
  look: InspectedFile
  /** The answer for an earlier preview of the file. */
  emptyCells?: Reading['empty_cells'] | undefined
  onPreview: (reading: Reading, preview: ImportResult) => void
  onRestart: () => void
}

/** Shows the file as it is read, and asks which column is which. */
export function MapColumns({ kind, file, look: first, emptyCells = 'keep', onPreview, onRestart }: Props) {
  const [look, setLook] = useState(first)
  const [reading, setReading] = useState<Reading>({ ...first, empty_cells: emptyCells })
  const [chosen, setChosen] = useState<Chosen>(() => parseColumns(kind, first.columns))
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const missing = kind.columns.filter(({ name, needed }) => needed && !chosen[name]?.some(Boolean))

  const attempt = async (work: () => Promise<void>) => {
    setFailure(undefined)
    setBusy(true)
    try {
      await work()
    } catch (error) {
      setFailure(error)
    } finally {
      setBusy(false)
    }
  }
  const readAgain = (change: Partial<Pick<Reading, 'encoding' | 'delimiter'>>) =>
    attempt(async () => {
      const { encoding, delimiter } = { ...reading, ...change }
      const found = await inspectFile(kind.path, file, { encoding, delimiter })
      setLook(found)
      setReading({ ...found, empty_cells: reading.empty_cells })
      setChosen(parseColumns(kind, found.columns))
    })
  const check = () =>
    attempt(async () => {
      const { encoding, delimiter, decimal, dates, empty_cells } = reading
      const full = { encoding, delimiter, decimal, dates, empty_cells, columns: formatColumns(chosen) }
      onPreview(full, await sendFile(kind.path, file, { ...full, dry_run: true }, () => {}))
    })

  return (
    <Panel
      title={t`Which column is which?`}
      isStep
      description={
        look.remembered
          ? t`${file.name}: nothing has been saved yet. Filled in as for the last file with these columns.`
          : t`${file.name}: nothing has been saved yet. Your answers are remembered for the next file with these columns.`
      }
    >
      <Stack>
        <FirstRows look={look} />
        {/* What somebody chose while the file is read again would be lost. */}
        <Fieldset legend={t`How the file is written`} disabled={busy}>
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
            <NativeSelect
              label={t`Encoding`}
              description={t`If letters look wrong above.`}
              data={ENCODINGS}
              value={reading.encoding}
              onChange={(event) => void readAgain({ encoding: event.currentTarget.value as Reading['encoding'] })}
            />
            <NativeSelect
              label={t`Column separator`}
              description={t`If the columns above are not separate.`}
              data={translated(DELIMITERS)}
              value={reading.delimiter}
              onChange={(event) => void readAgain({ delimiter: event.currentTarget.value as Reading['delimiter'] })}
            />
            <NativeSelect
              label={t`Numbers`}
              description={t`How hours are written.`}
              data={DECIMALS}
              value={reading.decimal}
              onChange={(event) => setReading({ ...reading, decimal: event.currentTarget.value as Reading['decimal'] })}
            />
            <NativeSelect
              label={t`Dates`}
              description={t`2024-05-31 is always read.`}
              data={translated(DATE_ORDERS)}
              value={reading.dates}
              onChange={(event) => setReading({ ...reading, dates: event.currentTarget.value as Reading['dates'] })}
            />
            <NativeSelect
              label={t`Empty cells`}
              description={t`For members or listings that are here already.`}
              data={translated(EMPTY_CELLS)}
              value={reading.empty_cells}
              onChange={(event) =>
                setReading({ ...reading, empty_cells: event.currentTarget.value as Reading['empty_cells'] })
              }
            />
          </SimpleGrid>
        </Fieldset>
        <Fieldset legend={t`Columns of the file`} disabled={busy}>
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
            {kind.columns.map((column) => (
              <ColumnChoice
                key={column.name}
                column={column}
                header={look.header}
                positions={chosen[column.name] ?? []}
                onChange={(positions) => setChosen({ ...chosen, [column.name]: positions })}
              />
            ))}
          </SimpleGrid>
        </Fieldset>
        {failure !== undefined && <Problem error={failure} />}
        {missing.length > 0 && (
          <Text size="sm" role="status">
            {chooseFirst(missing)}
          </Text>
        )}
        <Group>
          <Button variant="default" disabled={busy} onClick={onRestart}>
            <Trans>Choose another file</Trans>
          </Button>
          <BusyButton loading={busy} disabled={missing.length > 0} onClick={() => void check()}>
            <Trans>Check the rows</Trans>
          </BusyButton>
        </Group>
      </Stack>
    </Panel>
  )
}

function chooseFirst(columns: ImportColumn[]): string {
  const titles = columns.map((column) => {
    const title = translate(column.title)
    return t`“${title}”`
  })
  const list = formatList(titles)
  return t`Choose a column for ${list} first.`
}

function FirstRows({ look }: { look: InspectedFile }) {
  const rows = look.rows.map((cells, n) => ({ n, cells }))
  return (
    <PlainTable<{ n: number; cells: string[] }>
      label={t`The first rows of the file`}
      wide
      rows={rows}
      rowKey={({ n }) => n}
      empty={
        <EmptyState title={t`The file has only one row`}>
          <Trans>The first row names the columns.</Trans>
        </EmptyState>
      }
      columns={headerNames(look.header).map((header, n) => ({ header, cell: ({ cells }) => cells[n] || '–' }))}
    />
  )
}

interface ChoiceProps {
  column: ImportColumn
  header: string[]
  positions: string[]
  onChange: (positions: string[]) => void
}

/** One list, or several where the parts of a value may be in columns of their own. */
function ColumnChoice({ column, header, positions, onChange }: ChoiceProps) {
  const data = [
    { value: '', label: t`Not in the file` },
    ...headerNames(header).map((label, n) => ({ value: String(n), label })),
  ]
  // A further part is offered once the one before is chosen.
  const shown = positions.filter((_, n) => n === 0 || positions[n - 1])
  // Without one part those behind it are not shown, so they are not kept either.
  const choose = (part: number, chosen: string) =>
    onChange(positions.map((old, n) => (n === part ? chosen : n > part && chosen === '' ? '' : old)))
  return (
    <Stack gap={4}>
      {shown.map((position, n) => (
        <NativeSelect
          key={n}
          label={n === 0 ? translate(column.title) : undefined}
          aria-label={n === 0 ? undefined : partLabel(column, n)}
          withAsterisk={n === 0 && column.needed === true}
          data={n === 0 ? data : [{ value: '', label: t`No further column` }, ...data.slice(1)]}
          value={position}
          onChange={(event) => choose(n, event.currentTarget.value)}
        />
      ))}
    </Stack>
  )
}

function partLabel(column: ImportColumn, index: number): string {
  const [title, number] = [translate(column.title), formatNumber(index + 1)]
  return t`${title}, part ${number}`
}
