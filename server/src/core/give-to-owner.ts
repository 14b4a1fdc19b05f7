import { lchown, stat } from 'node:fs/promises'

/** What root creates in the data folder of another user must belong to that user, whom the service may run as. */
export async function giveToOwnerOf(dataDir: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = await stat(dataDir)
  // Not chown: the owner of the folder could have replaced the path by a link to a file of root's.
  if (uid !== 0) await lchown(path, uid, gid)
}
