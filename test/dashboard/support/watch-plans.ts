import { lookOnly, type Queryable, type QueryResult } from '@pg-tasks/sql'
import type { Client } from 'pg'

/** What a statement did with a table. */
export interface Reading {
  readonly statement: string
  /** Rows and index entries that its scans of the table went through, filtered out ones included. */
  readonly rows: number
  readonly sequential: boolean
  readonly ms: number
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** Runs what a page asks, as the dashboard does, and tells how each of its statements went about a table. */
export async function readingsOf(
  client: Client,
  table: string,
  work: (connection: Queryable) => Promise<unknown>,
): Promise<Reading[]> {
  const readings: Reading[] = []
  const watched: Queryable = {
    async query(text, values = []): Promise<QueryResult> {
      if (/^\s*(select|with)\b/i.test(text)) {
        const { rows } = await client.query(`explain (analyze, format json) ${text}`, [...values])
        const [{ Plan: plan, 'Execution Time': ms }] = rows[0]['QUERY PLAN']
        readings.push({ statement: text, ms, ...read(plan, table) })
      }
      return client.query(text, [...values])
    },
  }
  await lookOnly(client, () => work(watched), { statementTimeoutMs: 60_000 })
  return readings
}

function read(node: PlanNode, table: string): { rows: number; sequential: boolean } {
  let rows = 0
  let sequential = false
  const visit = (one: PlanNode): void => {
    if (
      one['Relation Name'] === table ||
      (one['Index Name']?.startsWith(table) === true && one['Node Type'] === 'Bitmap Index Scan')
    ) {
      const each =
        (one['Actual Rows'] ?? 0) + (one['Rows Removed by Filter'] ?? 0) + (one['Rows Removed by Index Recheck'] ?? 0)
      rows += each * (one['Actual Loops'] ?? 1)
      sequential ||= one['Node Type'].endsWith('Seq Scan')
    }
    for (const child of one.Plans ?? []) visit(child)
  }
  visit(node)
  return { rows, sequential }
}
