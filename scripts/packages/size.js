import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './pack.js'

/** Bytes of the tarball, of what is in it, and of a folder in which the package is installed with all that it depends on. */
export async function measureSize({ tarball, manifest }, packages) {
  const folder = await mkdtemp(join(tarball, '..', 'install-'))
  try {
    const ours = packages.filter(({ manifest: { name } }) => dependsOn(manifest, name, packages))
    // Without one, npm would install into the project of a folder above.
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    const words = ['install', '--no-audit', '--no-fund', '--no-save', '--prefer-offline']
    await run('npm', [...words, tarball, ...ours.map((one) => one.tarball)], { cwd: folder })
    const modules = join(folder, 'node_modules')
    return {
      packed: (await stat(tarball)).size,
      unpacked: await bytesOf(join(modules, manifest.name)),
      installed: await bytesOf(modules),
      packages: (await packageFolders(modules)).length,
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function sizeSentence({ version }, { packed, unpacked, installed, packages }) {
  const alone = `Version ${version}: ${amount(packed)} packed, ${amount(unpacked)} unpacked`
  return `${alone}; ${amount(installed)} in ${packages} packages with all that it depends on.`
}

function dependsOn(manifest, name, packages) {
  return Object.keys(manifest.dependencies ?? {}).some((dependency) => {
    const next = packages.find((one) => one.manifest.name === dependency)?.manifest
    return dependency === name || (next !== undefined && dependsOn(next, name, packages))
  })
}

async function bytesOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(file.parentPath, file.name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Each folder of an installed package, nested ones too. */
async function packageFolders(modules) {
  const entries = await readdir(modules, { recursive: true, withFileTypes: true })
  return entries.filter(
    ({ name, parentPath }) =>
      name === 'package.json' && /[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+$/.test(parentPath),
  )
}

function amount(bytes) {
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
