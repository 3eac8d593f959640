// How the console is built: one application for both listeners, its files named by their content so that browsers may keep them for
// good. No source maps and no inline code: the Content-Security-Policy allows neither scripts nor styles in the page.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  logLevel: 'warn',
  build: {
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
