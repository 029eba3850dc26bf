import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createDashboard, startDashboard } from '@pg-tasks/dashboard'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { createSampleTypes, enqueueInvoice } from './support/sample-types.js'
import { apiOf, serveDashboard } from './support/serve-dashboard.js'

const TOKEN = 'a-token-of-some-length'
const database = await createDatabase()
const connectionString = database.url

beforeAll(async () => {
  await createSampleTypes(database.pool)
})

async function statusOf(url: string, init: RequestInit = {}): Promise<number> {
  return (await fetch(url, { redirect: 'manual', ...init })).status
}

describe('the address', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])(
    'is refused without a token if others can reach it: %s',
    async (host) => {
      await expect(startDashboard({ connectionString, host, port: 0 })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        option: 'host',
        message: expect.stringContaining('give a token'),
      })
    },
  )

  it('may be any with a token', async () => {
    const { url } = await serveDashboard({ connectionString, host: '0.0.0.0', token: TOKEN })
    expect(await statusOf(`${url}api/overview`)).toBe(401)
  })

  it('answers to loopback names only where nobody signs in, so that no other site reaches it under a name of its own', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { port } = new URL(url)
    const dashboard = await import('node:http')
    const status = await new Promise<number | undefined>((resolve, reject) => {
      dashboard
        .get(
          { host: '127.0.0.1', port, path: '/api/overview', headers: { host: `evil.example:${port}` } },
          (response) => {
            response.resume()
            resolve(response.statusCode)
          },
        )
        .on('error', reject)
    })
    expect(status).toBe(401)
    expect(await statusOf(`${url}api/overview`)).toBe(200)
  })
})

describe('signing in', () => {
  it('takes the token and nothing else', async () => {
    const { url } = await serveDashboard({ connectionString, token: TOKEN, user: 'ada' })
    const post = (token: string): Promise<Response> =>
      fetch(`${url}login`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) })
    expect(await statusOf(url)).toBe(303)
    expect((await post('another-token-of-length')).status).toBe(401)
    expect((await post('')).status).toBe(401)
    const signedIn = await post(TOKEN)
    expect(signedIn.status).toBe(303)
    const cookie = signedIn.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(TOKEN)
    const [pair = ''] = cookie.split(';')
    expect(await statusOf(`${url}api/overview`, { headers: { cookie: pair } })).toBe(200)
    // Each character of it counts.
    expect(await statusOf(`${url}api/overview`, { headers: { cookie: `${pair.slice(0, -2)}xx` } })).toBe(401)
    const session = await (await fetch(`${url}api/session`, { headers: { cookie: pair } })).json()
    expect(session).toMatchObject({ user: 'ada', readOnly: false, signedIn: true })
  })

  it('takes the token in a header as well', async () => {
    const { url } = await serveDashboard({ connectionString, token: TOKEN })
    expect(await statusOf(`${url}api/overview`, { headers: { authorization: `Bearer ${TOKEN}` } })).toBe(200)
    const basic = Buffer.from(`x:${TOKEN}`).toString('base64')
    expect(await statusOf(`${url}api/overview`, { headers: { authorization: `Basic ${basic}` } })).toBe(200)
    expect(await statusOf(`${url}api/overview`, { headers: { authorization: 'Bearer wrong' } })).toBe(401)
  })

  it('waits after many wrong tokens, whoever guesses', async () => {
    const { url } = await serveDashboard({ connectionString, token: TOKEN })
    for (let n = 0; n < 20; n += 1) {
      expect(await statusOf(`${url}api/overview`, { headers: { authorization: `Bearer guess-${n}` } })).toBe(401)
    }
    expect(await statusOf(`${url}login`, { method: 'POST', body: new URLSearchParams({ token: TOKEN }) })).toBe(429)
  })

  it.each([
    ['a short token', { token: 'short' }, 'token'],
    ['a user without a token', { user: 'ada' }, 'user'],
    ['an unknown option', { tokens: [] }, 'tokens'],
    ['a rule that there isn’t', { columns: { '*': { email: 'blur' } } }, 'columns'],
    ['a path that isn’t one', { basePath: 'admin"><script>' }, 'basePath'],
  ])('refuses %s', async (_, options, option) => {
    await expect(startDashboard({ connectionString, port: 0, ...(options as object) })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option,
    })
  })
})

describe('a request that changes something', () => {
  const change = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }

  it('needs the token that a page of the dashboard got', async () => {
    const { url } = await serveDashboard({ connectionString })
    const path = `${url}api/types/tasks/send_invoice/settings/pause`
    expect(await statusOf(path, change)).toBe(403)
    expect(await statusOf(path, { ...change, headers: { ...change.headers, 'x-csrf-token': 'guess' } })).toBe(403)
    const { rows } = await database.pool.query(`select paused_at from tasks.types where table_name = 'send_invoice'`)
    expect(rows).toEqual([{ paused_at: null }])
  })

  it('is refused when it comes from another site', async () => {
    const { url } = await serveDashboard({ connectionString })
    const { csrfToken } = (await (await fetch(`${url}api/session`)).json()) as { csrfToken: string }
    const path = `${url}api/types/tasks/send_invoice/settings/pause`
    for (const from of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      expect(
        await statusOf(path, { ...change, headers: { ...change.headers, 'x-csrf-token': csrfToken, ...from } }),
      ).toBe(403)
    }
  })

  it.each([
    ['a dashboard that is read only', { readOnly: true }, {}],
    [
      'a user who may only look',
      { users: [{ name: 'eve', token: TOKEN, readOnly: true }] },
      { authorization: `Bearer ${TOKEN}` },
    ],
  ])('is refused by %s', async (_, options, headers) => {
    const id = await enqueueInvoice(database.pool)
    const { url } = await serveDashboard({ connectionString, ...options })
    const api = await apiOf(url, headers as Record<string, string>)
    const attempts = [
      await api('POST', 'types/tasks/send_invoice/tasks', { values: { order_id: '1', email: 'x' } }),
      await api('POST', `types/tasks/send_invoice/tasks/${id}/cancel`, {}),
      await api('PATCH', `types/tasks/send_invoice/tasks/${id}`, { values: { email: 'x' } }),
      await api('POST', 'types/tasks/send_invoice/bulk/cancel', {}),
      await api('POST', 'types/tasks/send_invoice/clean', { olderThanMs: 0, states: ['finished'] }),
      await api('PUT', 'schedules/x', { schema: 'tasks', table: 'nightly_report', timing: { cron: '* * * * *' } }),
    ]
    expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 403))
    const { rows } = await database.pool.query('select canceled from tasks.send_invoice where id = $1', [id])
    expect(rows).toEqual([{ canceled: false }])
  })

  it('is refused by the database for a role that may only read; everything else is shown', async () => {
    const id = await enqueueInvoice(database.pool)
    const reader = await database.createRole('reader')
    for (const table of ['send_invoice', 'nightly_report']) {
      await database.pool.query('select tasks.grant_to($1, $2, $3, $4)', [reader.name, 'reader', 'tasks', table])
    }
    const { url } = await serveDashboard({ connectionString: reader.url })
    const api = await apiOf(url)
    for (const path of [
      'overview',
      'types/tasks/send_invoice',
      'types/tasks/send_invoice/tasks',
      `types/tasks/send_invoice/tasks/${id}`,
      'workers',
      'health',
      'schedules',
      'audit',
    ]) {
      expect([path, (await api('GET', path)).status]).toEqual([path, 200])
    }
    const { json } = await api('GET', 'types/tasks/send_invoice')
    expect(json).toMatchObject({ type: { mayRead: true, mayWrite: false } })
    const refused = await api('POST', `types/tasks/send_invoice/tasks/${id}/cancel`, {})
    expect(refused).toMatchObject({ status: 403, json: { code: 'NOT_ALLOWED' } })
  })
})

describe('an operator', () => {
  it('acts with the rights of one task type, and does nothing that can’t be written into the audit', async () => {
    const operator = await database.createRole('operator')
    await database.pool.query('select tasks.grant_to($1, $2, $3, $4)', [
      operator.name,
      'operator',
      'tasks',
      'send_invoice',
    ])
    const { url } = await serveDashboard({ connectionString: operator.url, token: TOKEN, user: 'ada' })
    const api = await apiOf(url, { authorization: `Bearer ${TOKEN}` })
    const [first, second] = [await enqueueInvoice(database.pool), await enqueueInvoice(database.pool)]
    expect(await api('POST', `types/tasks/send_invoice/tasks/${first}/cancel`, {})).toMatchObject({ status: 200 })
    const { rows } = await database.pool.query(
      'select actor, role_name, action, target from tasks.audit order by id desc limit 1',
    )
    expect(rows).toEqual([{ actor: 'ada', role_name: operator.name, action: 'cancel', target: first }])
    await database.pool.query(`revoke insert on tasks.audit from ${operator.name}`)
    expect(await api('POST', `types/tasks/send_invoice/tasks/${second}/cancel`, {})).toMatchObject({
      status: 403,
      json: { message: 'permission denied for table audit' },
    })
    const left = await database.pool.query('select canceled from tasks.send_invoice where id = $1', [second])
    expect(left.rows).toEqual([{ canceled: false }])
    expect((await api('POST', 'types/tasks/nightly_report/tasks', { values: {} })).status).toBe(403)
  })
})

describe('every response', () => {
  it('forbids what comes from elsewhere, what is inline, and frames', async () => {
    const { url } = await serveDashboard({ connectionString })
    for (const path of ['', 'api/overview', 'api/nothing', 'login', 'theme.js', 'assets/nothing.js']) {
      const response = await fetch(`${url}${path}`)
      const policy = response.headers.get('content-security-policy') ?? ''
      expect([path, policy]).toEqual([
        path,
        expect.stringContaining("default-src 'none'; script-src 'self'; style-src 'self'"),
      ])
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toContain('unsafe')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })

  it('serves files of the page only', async () => {
    const { url } = await serveDashboard({ connectionString })
    for (const path of [
      'assets/..%2f..%2fserver%2findex.js',
      'assets/..%2f..%2f..%2fpackage.json',
      'assets/%2e%2e%2findex.html',
    ]) {
      expect([path, await statusOf(`${url}${path}`)]).toEqual([path, 404])
    }
  })
})

describe('a dashboard that is mounted', () => {
  it('must know who asks', () => {
    expect(() => createDashboard({ connectionString })).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })

  it('answers Fetch requests under its path, and asks the caller’s own sign-in', async () => {
    const dashboard = createDashboard({
      pool: database.pool,
      basePath: '/admin/tasks',
      authenticate: (request) => (request.headers.get('x-user') === 'ada' ? { name: 'ada' } : null),
    })
    onTestFinished(() => dashboard.close())
    const ask = (path: string, headers = {}): Promise<Response> =>
      dashboard.fetch(new Request(`https://shop.example${path}`, { headers }))
    expect((await ask('/admin/tasks/')).status).toBe(403)
    const page = await ask('/admin/tasks/types/tasks/send_invoice', { 'x-user': 'ada' })
    expect(await page.text()).toContain('<base href="/admin/tasks/" />')
    expect((await ask('/admin/tasks/api/overview', { 'x-user': 'ada' })).status).toBe(200)
    expect((await ask('/api/overview', { 'x-user': 'ada' })).status).toBe(404)
  })

  it('answers requests of node:http, also where a framework has taken the path of the mount away', async () => {
    const dashboard = createDashboard({ pool: database.pool, basePath: '/admin', token: TOKEN })
    const server = createServer((request, response) => {
      // As express does.
      Object.assign(request, { originalUrl: request.url, url: request.url?.replace('/admin', '') })
      void dashboard.listener(request, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => {
      await dashboard.close()
      server.close()
    })
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/admin/`
    const api = await apiOf(url, { authorization: `Bearer ${TOKEN}` })
    expect(await api('GET', 'overview')).toMatchObject({ status: 200 })
    expect(await api('POST', 'types/tasks/nightly_report/tasks', { values: {} })).toMatchObject({ status: 201 })
  })
})
