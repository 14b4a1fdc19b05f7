import { TextInput, type TextInputProps } from '@mantine/core'
import { useId } from 'react'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'

/** A tag that is in use already, or a new one. */
export function TagField(props: TextInputProps & { 'data-autofocus'?: boolean }) {
  const path = useCommunityPath()
  const listId = useId()
  const tags = useRead<string[]>(path('/tags'))
  return (
    <>
      <TextInput autoComplete="off" list={listId} {...props} />
      <datalist id={listId}>
        {(tags.data ?? []).map((tag) => (
          <option key={tag} value={tag} />
        ))}
      </datalist>
    </>
  )
}
