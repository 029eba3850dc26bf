/** A path of plain segments, without a slash at the end; empty at the root. */
export function resolveBasePath(given: string, refuse: (problem: string) => never): string {
  const path = given.replace(/\/+$/, '')
  return path === '' || /^(\/[\w.~-]+)+$/.test(path) ? path : refuse('must be a path such as /admin/tasks.')
}
