import type { Client } from 'pg'

/** A statement that ran inside a call, as auto_explain saw it. */
export interface NestedPlan {
  readonly text: string
  /** Nodes that read a relation. */
  readonly scans: readonly Scan[]
  readonly sorts: boolean
  /** Pages that it looked at, in memory or not. */
  readonly buffers: number
}

export interface Scan {
  readonly type: string
  readonly relation: string
  readonly index: string | undefined
}

interface PlanNode {
  readonly 'Node Type'?: string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Shared Hit Blocks'?: number
  readonly 'Shared Read Blocks'?: number
  readonly Plans?: readonly PlanNode[]
}

/** A session in which calls can be looked into; the plans are those of the functions' own statements, cached or not. */
export class PlanWatcher {
  readonly client: Client
  #plans: NestedPlan[] = []

  private constructor(client: Client) {
    this.client = client
    client.on('notice', ({ message }) => {
      const [, json] = /plan:\n([\s\S]*)$/.exec(message ?? '') ?? []
      if (json !== undefined) this.#plans.push(nestedPlan(JSON.parse(json)))
    })
  }

  static async start(client: Client): Promise<PlanWatcher> {
    await client.query(`
      load 'auto_explain';
      set auto_explain.log_min_duration = 0;
      set auto_explain.log_nested_statements = on;
      set auto_explain.log_analyze = on;
      set auto_explain.log_buffers = on;
      set auto_explain.log_timing = off;
      set auto_explain.log_format = json;
      set client_min_messages = log`)
    return new PlanWatcher(client)
  }

  /** Runs a call and gives the plans of all that ran in it; the call itself comes last. */
  async plansOf(call: string, values: readonly unknown[] = []): Promise<NestedPlan[]> {
    this.#plans = []
    await this.client.query(call, [...values])
    return this.#plans
  }

  /** The buffers of a call as a whole, planning of its statements included. */
  async buffersOf(call: string, values: readonly unknown[] = []): Promise<number> {
    return (await this.plansOf(call, values)).at(-1)?.buffers ?? 0
  }

  /** The least of a few calls: the others may have met a catalogue that vacuum, or somebody's DDL, made the session forget. */
  async leastBuffersOf(call: string, values: readonly unknown[] = []): Promise<number> {
    const found: number[] = []
    for (let round = 0; round < 4; round += 1) found.push(await this.buffersOf(call, values))
    return Math.min(...found)
  }
}

function nestedPlan(explained: { 'Query Text': string; Plan: PlanNode }): NestedPlan {
  const nodes = [...walk(explained.Plan)]
  return {
    text: explained['Query Text'],
    scans: nodes.flatMap((node) =>
      node['Relation Name'] && / Scan$/.test(node['Node Type'] ?? '')
        ? [{ type: node['Node Type'] ?? '', relation: node['Relation Name'], index: node['Index Name'] }]
        : [],
    ),
    sorts: nodes.some((node) => /Sort$/.test(node['Node Type'] ?? '')),
    buffers: (explained.Plan['Shared Hit Blocks'] ?? 0) + (explained.Plan['Shared Read Blocks'] ?? 0),
  }
}

function* walk(node: PlanNode): Generator<PlanNode> {
  yield node
  for (const child of node.Plans ?? []) yield* walk(child)
}
