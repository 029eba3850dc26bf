import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pack } from './packages/pack.js'
import { publishedPackages, ROOT } from './packages/published-packages.js'

/** Packs the build that is there, for `npm install` in another project: npm's own pack leaves `workspace:^` in, which it can't install. */
const destination = resolve(process.argv[2] ?? join(ROOT, '.data', 'packages'))
await mkdir(destination, { recursive: true })
for (const { folder } of publishedPackages()) process.stdout.write(`${await pack(folder, destination)}\n`)
