import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  // For `vite console` beside a running service.
  server: { proxy: { '/readyz': 'http://127.0.0.1:3000', '/openapi.json': 'http://127.0.0.1:3000' } },
  build: {
    // The service sends `default-src 'self'`: nothing may be inlined, neither a script nor an image as a data: address.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
