// Bundles the server with its packages. See docs/decisions/0043-one-bundle.md.
import { defineConfig } from 'rolldown'

export default defineConfig({
  cwd: import.meta.dirname,
  input: { main: 'src/main.ts', 'web-process': 'src/process/web-process.ts' },
  platform: 'node',
  // Native code, and what `pg` looks for without needing it.
  external: ['@node-rs/argon2', 'pg-native'],
  // CommonJS packages use these names.
  transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
  output: { dir: 'dist/bundle', chunkFileNames: '[name].js', sourcemap: true },
})
