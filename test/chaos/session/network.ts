import { databaseUrl } from '../../support/names.js'
import { startProxy, type TestProxy } from '../../support/proxy.js'
import { DATABASE } from './create-database.js'
import type { Servers } from './servers.js'

/** One process's way to the servers: a proxy in front of each, which break together. */
export class Network {
  readonly #proxies: readonly TestProxy[]
  #broken = false

  private constructor(proxies: readonly TestProxy[]) {
    this.#proxies = proxies
  }

  static async start(servers: Servers): Promise<Network> {
    return new Network(await Promise.all(servers.all.map(({ url }) => startProxy(databaseUrl(url, DATABASE)))))
  }

  get urls(): readonly string[] {
    return this.#proxies.map(({ url }) => url)
  }

  /** Whether it is in a mode already. */
  get broken(): boolean {
    return this.#broken
  }

  /** Breaks it as long as `until` lasts. */
  async breakUntil(mode: (proxy: TestProxy) => Promise<void>, until: Promise<unknown>): Promise<void> {
    this.#broken = true
    try {
      await Promise.all(this.#proxies.map(mode))
      await until
    } finally {
      await Promise.all(this.#proxies.map((proxy) => proxy.pass()))
      this.#broken = false
    }
  }

  /** Resets all connections, once. */
  cut(): void {
    for (const proxy of this.#proxies) proxy.cut()
  }

  /** Cuts the connection that carries this statement next; false if none came before `until`. */
  async cutStatement(statement: string, deliver: boolean, until: Promise<unknown>): Promise<boolean> {
    let happened = false
    const cuts = this.#proxies.map(async (proxy) => {
      await proxy.cutWhen((data, direction) => direction === 'up' && data.includes(statement), { deliver })
      happened = true
    })
    await this.breakUntil(async () => {}, Promise.race([...cuts, until]))
    return happened
  }

  async close(): Promise<void> {
    await Promise.all(this.#proxies.map((proxy) => proxy.close()))
  }
}
