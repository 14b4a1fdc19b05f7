// Runs before the first paint, so that a chosen scheme never flashes in the other one. A file of its own, because the
// Content-Security-Policy allows no inline script.
;(function () {
  var scheme = 'auto'
  try {
    scheme = localStorage.getItem('hourbank-color-scheme') || 'auto'
  } catch {
    // Storage can be forbidden; then the system decides.
  }
  if (scheme !== 'light' && scheme !== 'dark') {
    scheme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  }
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme)
})()
