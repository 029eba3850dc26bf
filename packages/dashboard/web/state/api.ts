import type { Problem } from '../../server/problem.js'
import { BASE } from './router.js'

/** What the server answered instead. */
export class ApiError extends Error {
  readonly status: number
  readonly problem: Problem

  constructor(status: number, problem: Problem) {
    super(problem.message)
    this.status = status
    this.problem = problem
  }
}

/** Who looks, and what they may. */
export interface Session {
  readonly user: string
  readonly readOnly: boolean
  readonly csrfToken: string
  readonly signedIn: boolean
}

let session: Promise<Session> | undefined

export function readSession(): Promise<Session> {
  session ??= get<Session>('session')
  return session
}

export function get<Value>(path: string, signal?: AbortSignal): Promise<Value> {
  return send<Value>('GET', path, undefined, signal)
}

export function post<Value = unknown>(path: string, body: unknown = {}): Promise<Value> {
  return send<Value>('POST', path, body)
}

export function put<Value = unknown>(path: string, body: unknown): Promise<Value> {
  return send<Value>('PUT', path, body)
}

export function patch<Value = unknown>(path: string, body: unknown): Promise<Value> {
  return send<Value>('PATCH', path, body)
}

export function remove<Value = unknown>(path: string): Promise<Value> {
  return send<Value>('DELETE', path, {})
}

/** Lines of JSON as they come. */
export async function* postLines<Line>(path: string, signal: AbortSignal): AsyncGenerator<Line> {
  const response = await request('POST', path, {}, signal)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  while (reader !== undefined) {
    const { value, done } = await reader.read()
    const lines = (rest + (value ?? '')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line) as Line
    if (done) return
  }
}

async function send<Value>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Value> {
  const response = await request(method, path, body, signal)
  return (await response.json()) as Value
}

async function request(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') {
    headers['content-type'] = 'application/json'
    headers['x-csrf-token'] = (await readSession()).csrfToken
  }
  const response = await fetch(`${BASE}api/${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new ApiError(0, { code: 'SERVER_AWAY', message: 'The dashboard can’t be reached.' })
  })
  if (response.ok) return response
  const problem = (await response.json().catch(() => ({ code: 'FAULT', message: response.statusText }))) as Problem
  // The session has ended: sign in again, or reload where the server was started anew.
  if (response.status === 401) location.assign(`${BASE}login`)
  if (problem.code === 'CSRF') session = undefined
  throw new ApiError(response.status, problem)
}

/** Part of a path of the API. */
export function pathOf(...segments: readonly string[]): string {
  return segments.map(encodeURIComponent).join('/')
}
