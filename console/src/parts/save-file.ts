const FREE_AFTER_MS = 60_000

/** Lets the browser save text that the page holds, as a file. */
export function saveFile(name: string, text: string, type = 'text/plain;charset=utf-8'): void {
  const address = URL.createObjectURL(new Blob([text], { type }))
  openDownload(address, name)
  setTimeout(() => URL.revokeObjectURL(address), FREE_AFTER_MS)
}

/** Without a name, the one that the service gives it. */
export function openDownload(address: string, name = ''): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
}
