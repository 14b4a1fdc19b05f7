// `npm run build`: builds everything, even if nothing has changed.
import { buildWhatIsMissing, installWhatIsMissing } from './prepare.mjs'
import { endOnFailure, requireNode } from './run.mjs'

await endOnFailure(async () => {
  requireNode()
  await installWhatIsMissing()
  await buildWhatIsMissing({ force: true })
})
