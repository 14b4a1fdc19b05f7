import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressedAssets } from './compressed-assets.ts'
import { firstLoadLimit } from './first-load.ts'
import { leanScrollArea } from './lean-scroll-area.ts'
import { messages } from './messages/plugin.ts'

const SERVICE = 'http://127.0.0.1:3000'

export default defineConfig({
  base: '/console/',
  plugins: [messages(), react(), leanScrollArea(), firstLoadLimit(), compressedAssets()],
  // For `vite console` beside a running service.
  server: { proxy: { '/api': SERVICE, '/readyz': SERVICE, '/docs': SERVICE, '/openapi.json': SERVICE } },
  build: {
    // The service sends `default-src 'self'`: nothing may be inlined, neither a script nor an image as a data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What most pages share is one file: in many small ones it was 10 KB larger when compressed.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 16 }] } } },
  },
})
