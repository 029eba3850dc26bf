const NEEDED = [
  'name',
  'version',
  'description',
  'keywords',
  'license',
  'author',
  'type',
  'engines',
  'exports',
  'files',
]

/** What a package.json lacks to be found, installed and traced back to its source. */
export function manifestProblems(manifest, root) {
  const problems = NEEDED.filter((field) => manifest[field] === undefined).map((field) => `has no "${field}"`)
  if (manifest.bin === undefined && manifest.sideEffects !== false) problems.push('has no "sideEffects": false')
  if (manifest.publishConfig?.access !== 'public') problems.push('has no "publishConfig": { "access": "public" }')
  if (manifest.engines?.node !== root.engines.node) problems.push(`doesn't ask for Node ${root.engines.node}`)
  // Provenance compares it with the repository that publishes.
  if (JSON.stringify(manifest.repository?.url) !== JSON.stringify(root.repository?.url)) {
    problems.push('has another "repository" than the workspace')
  }
  return problems
}
