// `npm run build`: builds everything, changed or not.
import { buildWhatIsMissing, installWhatIsMissing } from './prepare.mjs'
import { endOnFailure, requireNode } from './run.mjs'

await endOnFailure(async () => {
  requireNode()
  await installWhatIsMissing()
  await buildWhatIsMissing({ force: true })
})
