import { type RunningDashboard, type StartDashboardOptions, startDashboard } from '@pg-tasks/dashboard'
import { onTestFinished } from 'vitest'

/** A dashboard on a free port, closed at the end of the test. */
export async function serveDashboard(options: StartDashboardOptions): Promise<RunningDashboard> {
  const dashboard = await startDashboard({ port: 0, refreshIntervalMs: 250, ...options })
  onTestFinished(() => dashboard.close())
  return dashboard
}

/** What a page may send: with the token that a page of the dashboard got. */
export async function apiOf(url: string, headers: Readonly<Record<string, string>> = {}) {
  const session = (await (await fetch(`${url}api/session`, { headers })).json()) as { csrfToken: string }
  return async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; text: string; json: unknown }> => {
    const response = await fetch(`${url}api/${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json', 'x-csrf-token': session.csrfToken },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      text,
      json: text.startsWith('{') && !text.includes('}\n{') ? JSON.parse(text) : undefined,
    }
  }
}
