import type { TestProject } from 'vitest/node'
import { dropTemplates } from './template-database.js'
import { startTestServer } from './test-server.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A superuser's connection string; the databases of the tests are made on this server. */
    readonly serverUrl: string
  }
}

/** One server for all test files of a run: the given one, else an embedded one that ends with us. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  if (given) {
    project.provide('serverUrl', given)
    return () => dropTemplates(given)
  }
  const server = await startTestServer()
  project.provide('serverUrl', server.url)
  return () => server.remove()
}
