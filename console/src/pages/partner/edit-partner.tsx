import { t } from '@lingui/core/macro'
import { Box } from '@mantine/core'
import { api } from '../../api.ts'
import { Form } from '../../parts/form.tsx'
import { notify } from '../../parts/notices.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useForm } from '../../parts/use-form.ts'
import { refresh } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { PartnerFields } from '../partners/partner-fields.tsx'
import { changesOf, checkValues, valuesOf } from '../partners/partner-values.ts'
import type { PartnerDetail } from '../../wire.ts'

export function EditPartner({ partner }: { partner: PartnerDetail }) {
  const path = useCommunityPath()
  const form = useForm({
    initial: valuesOf(partner),
    version: partner.version,
    reread: async () => {
      const current = await api.get<PartnerDetail>(path(`/partners/${partner.id}`))
      return { values: valuesOf(current), version: current.version }
    },
    check: checkValues,
    save: async (values, { before, version }) => {
      const changes = changesOf(before, values)
      if (Object.keys(changes).length === 0) return undefined
      return api.patch<{ version: string }>(path(`/partners/${partner.id}`), changes, { version })
    },
    onSaved: () => {
      notify(t`Saved. It takes effect at once.`)
      void refresh(path('/partners'))
    },
  })
  return (
    <Panel
      title={t`Details and permissions`}
      description={t`Changes take effect at once, also for credentials in use.`}
    >
      <Box maw="32rem">
        <Form form={form} submit={t`Save`}>
          <PartnerFields form={form} />
        </Form>
      </Box>
    </Panel>
  )
}
