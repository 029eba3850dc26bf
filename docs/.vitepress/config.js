import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { anchorOf } from './anchor-of.js'
import { PAGES, ROOT, routeOf } from './pages.js'
import { relativeImages } from './relative-images.js'
import { copyLinkedFiles, repositoryLinks } from './repository-links.js'
import { sidebar } from './sidebar.js'

export default defineConfig({
  title: 'pg-tasks',
  description: 'A task queue for Node.js in your own PostgreSQL',
  lang: 'en',
  srcDir: ROOT,
  srcExclude: ['**/node_modules/**', '**/dist/**', '.data/**'],
  rewrites: Object.fromEntries(PAGES.map((page) => [page, routeOf(page)])),
  cacheDir: join(ROOT, 'node_modules', '.cache', 'vitepress'),
  markdown: { config: (markdown) => markdown.use(repositoryLinks).use(relativeImages), anchor: { slugify: anchorOf } },
  buildEnd: copyLinkedFiles,
  themeConfig: {
    sidebar: sidebar(),
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    docFooter: { prev: false, next: false },
  },
})
