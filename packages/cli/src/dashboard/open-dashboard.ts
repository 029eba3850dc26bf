import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CliError } from '../cli-error.js'

/** What is asked of `@pg-tasks/dashboard`. */
export interface DashboardSettings {
  readonly connectionString: string
  readonly port: number
  readonly host: string
  readonly user?: string
  readonly token?: string
  readonly readOnly?: boolean
}

export interface OpenDashboard {
  readonly url: string
  close(): Promise<void>
}

interface DashboardModule {
  startDashboard(settings: DashboardSettings): Promise<OpenDashboard>
}

/** Not known when this is compiled: the dashboard is installed by those who want it. */
const PACKAGE = '@pg-tasks/dashboard'

/** How the dashboard is had. */
export const INSTALL_DASHBOARD = `npm install ${PACKAGE}`

/** Starts the dashboard. @throws CliError that says how to install it, if it isn't */
export async function openDashboard(settings: DashboardSettings): Promise<OpenDashboard> {
  const dashboard = await openDashboardIfInstalled(settings)
  if (dashboard === undefined) throw new CliError('The dashboard is not installed.', { hint: INSTALL_DASHBOARD })
  return dashboard
}

/** Starts the dashboard; undefined if it isn't installed. */
export async function openDashboardIfInstalled(settings: DashboardSettings): Promise<OpenDashboard | undefined> {
  const dashboard = await findDashboard()
  return dashboard?.startDashboard(settings)
}

/** The dashboard's module, installed beside us or in the user's project; undefined if it is in neither. */
async function findDashboard(): Promise<DashboardModule | undefined> {
  for (const resolve of [() => PACKAGE, fromProject]) {
    try {
      return (await import(resolve())) as DashboardModule
    } catch (error) {
      const { code, message } = error as { code?: unknown; message: string }
      const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
      if (!missing || !message.includes(PACKAGE)) throw error
    }
  }
  return undefined
}

function fromProject(): string {
  return pathToFileURL(createRequire(join(process.cwd(), 'package.json')).resolve(PACKAGE)).href
}
