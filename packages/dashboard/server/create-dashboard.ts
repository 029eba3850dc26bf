import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { InvalidOptionError } from '@pg-tasks/client'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { Access } from './access.js'
import { Announcements, listeningConfig } from './announcements.js'
import { type DashboardOptions, type ResolvedDashboardOptions, resolveDashboardOptions } from './dashboard-options.js'
import { Database } from './database.js'
import { Live } from './live.js'
import { loginPage } from './login-page.js'
import { Overview } from './overview.js'
import { DashboardRefusal, problemOf } from './problem.js'
import { bulkRoutes } from './routes/bulk-routes.js'
import { lookRoutes } from './routes/look-routes.js'
import { scheduleRoutes } from './routes/schedule-routes.js'
import { settingsRoutes } from './routes/settings-routes.js'
import { taskRoutes } from './routes/task-routes.js'
import { SECURITY_HEADERS } from './security-headers.js'
import type { DashboardEnv, Services } from './services.js'
import { webFile, webPage } from './web-files.js'

/** A dashboard to be mounted into a server. */
export interface Dashboard {
  /** Answers a request, as Fetch has them: for hono, or any server that speaks it. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Answers a request of node:http, and so of express and fastify (`request.raw`, `reply.raw`). */
  readonly listener: (request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Ends what it has opened: connections of its own, and the streams of those who look. */
  close(): Promise<void>
}

/**
 * Makes a dashboard that a server of yours answers with; nothing is connected until somebody looks. It must know who asks: by
 * `token`, `users` or `authenticate`.
 *
 * @throws InvalidOptionError that names the option
 *
 * @example
 * const dashboard = createDashboard({ pool, basePath: '/admin/tasks', token: process.env.DASHBOARD_TOKEN })
 * app.all('/admin/tasks/*', (context) => dashboard.fetch(context.req.raw)) // hono
 * app.use('/admin/tasks', dashboard.listener)                              // express, before any body parser
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  const resolved = resolveDashboardOptions('createDashboard', options)
  if (resolved.users.length === 0 && resolved.authenticate === undefined) {
    throw new InvalidOptionError(
      'createDashboard',
      'token',
      'or users or authenticate must be given: a mounted dashboard can’t know from where it is reached.',
    )
  }
  return makeDashboard(resolved, false)
}

/** @param open - whether requests to a loopback name are let in without a sign-in */
export function makeDashboard(options: ResolvedDashboardOptions, open: boolean): Dashboard {
  const database = new Database(options)
  const overview = new Overview(database, options.refreshIntervalMs)
  const live = new Live(
    overview,
    (onAnnounced) =>
      new Announcements(listeningConfig(options.connectionString, options.pool), onAnnounced, options.logger),
  )
  const services: Services = { options, access: new Access(options, open), database, overview, live }
  const app = appOf(services)
  const listener = getRequestListener((request) => app.fetch(request))
  return {
    fetch: async (request) => app.fetch(request),
    listener: async (request, response) => {
      // Express takes the path of the mount away.
      const { originalUrl } = request as { originalUrl?: string }
      if (originalUrl !== undefined) request.url = originalUrl
      await listener(request, response)
    },
    async close() {
      await live.close()
      await database.close()
    },
  }
}

/** Longest bodies, in bytes: of a sign-in, which anybody may send, and of an action. */
const LONGEST_SIGN_IN = 4_096
const LONGEST_BODY = 2 ** 24

function appOf(services: Services): Hono {
  const { options, access } = services
  const { basePath, logger } = options
  const app = new Hono()

  app.use(async (context, next) => {
    await next()
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.res.headers.set(name, value)
  })
  app.onError((thrown, context) => {
    const known = problemOf(thrown)
    if (known !== undefined) return context.json(known.problem, known.status)
    logger?.error(
      { path: context.req.path, reason: thrown.stack ?? String(thrown) },
      'A request of the dashboard failed',
    )
    return context.json({ code: 'FAULT', message: 'Something went wrong; see the log of the dashboard.' }, 500)
  })
  app.notFound((context) => context.json({ code: 'NOT_FOUND', message: 'There is nothing here.' }, 404))

  app.get(
    `${basePath}/assets/:file`,
    async (context) => (await webFile(`assets/${context.req.param('file')}`)) ?? context.notFound(),
  )
  for (const file of ['login.css', 'theme.js', 'icon.svg']) {
    app.get(`${basePath}/${file}`, async (context) => (await webFile(file)) ?? context.notFound())
  }

  app.get(`${basePath}/login`, () => loginPage(basePath, { status: 200, message: '' }))
  app.post(`${basePath}/login`, limitBody(LONGEST_SIGN_IN), async (context) => {
    refuseForeign(context.req.raw)
    if (access.throttled) return loginPage(basePath, { status: 429, message: 'Too many wrong tokens: wait a minute.' })
    const { token } = await context.req.parseBody()
    const user = typeof token === 'string' ? access.signIn(token) : undefined
    if (user === undefined) return loginPage(basePath, { status: 401, message: 'That is not the token.' })
    context.header('set-cookie', access.cookieFor(user, isSecure(context.req.raw)))
    return context.redirect(`${basePath}/`, 303)
  })
  app.post(`${basePath}/logout`, (context) => {
    refuseForeign(context.req.raw)
    context.header('set-cookie', access.endedCookie(isSecure(context.req.raw)))
    return context.redirect(`${basePath}/login`, 303)
  })

  app.route(`${basePath}/api`, apiOf(services))

  app.get(`${basePath}/*`, async (context) => {
    if ((await access.userOf(context.req.raw)) !== null) return webPage(basePath)
    if (access.byToken) return context.redirect(`${basePath}/login`, 303)
    throw new DashboardRefusal(403, 'NOT_SIGNED_IN', 'You may not use this dashboard.')
  })
  if (basePath !== '') app.get(basePath, (context) => context.redirect(`${basePath}/`))
  return app
}

function apiOf(services: Services): Hono<DashboardEnv> {
  const { access, options } = services
  const api = new Hono<DashboardEnv>()
  api.use(async (context, next) => {
    const user = await access.userOf(context.req.raw)
    if (user === null) throw new DashboardRefusal(401, 'NOT_SIGNED_IN', 'Sign in first.')
    const changes = context.req.method !== 'GET' && context.req.method !== 'HEAD'
    if (changes) {
      refuseForeign(context.req.raw)
      if (!access.isCsrfToken(user, context.req.header('x-csrf-token'))) {
        throw new DashboardRefusal(403, 'CSRF', 'The request doesn’t come from a page of this dashboard; reload it.')
      }
      const looksOnly =
        context.req.method === 'POST' && context.req.path === `${options.basePath}/api/schedules/preview`
      if ((options.readOnly || user.readOnly === true) && !looksOnly) {
        throw new DashboardRefusal(403, 'READ_ONLY', 'This dashboard is for looking only.')
      }
    }
    const stopwatch = { databaseMs: 0 }
    context.set('user', user)
    context.set('stopwatch', stopwatch)
    await next()
    context.res.headers.set('server-timing', `db;dur=${stopwatch.databaseMs.toFixed(1)}`)
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store')
  })
  api.use(limitBody(LONGEST_BODY))
  const routes = [lookRoutes, taskRoutes, bulkRoutes, settingsRoutes, scheduleRoutes]
  for (const make of routes) api.route('/', make(services))
  return api
}

/** More is not taken in. */
function limitBody(maxSize: number): ReturnType<typeof bodyLimit> {
  const onError = (): never => {
    throw new DashboardRefusal(413, 'TOO_LARGE', `The request is larger than ${maxSize} bytes.`)
  }
  return bodyLimit({ maxSize, onError })
}

/** A browser says from where a request comes; one from another site changes nothing here. */
function refuseForeign(request: Request): void {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const host = request.headers.get('x-forwarded-host') ?? request.headers.get('host') ?? new URL(request.url).host
  const foreign =
    site !== null ? site !== 'same-origin' && site !== 'none' : origin !== null && !origin.endsWith(`//${host}`)
  if (foreign) throw new DashboardRefusal(403, 'CSRF', 'The request comes from another site.')
}

function isSecure(request: Request): boolean {
  return new URL(request.url).protocol === 'https:' || request.headers.get('x-forwarded-proto') === 'https'
}
