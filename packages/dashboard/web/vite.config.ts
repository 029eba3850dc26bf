import { defineConfig } from 'vite'

/** Everything is addressed relative to the page's base, so that it can be mounted under any path. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    // The content-security-policy allows neither inline code nor data in its place.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
