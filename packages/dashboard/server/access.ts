import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { DashboardUser, ResolvedDashboardOptions, TokenUser } from './dashboard-options.js'
import { isLoopback } from './loopback.js'

/** How long a sign-in holds, in milliseconds. */
const SESSION_MS = 12 * 3_600_000

/** So many wrong tokens a minute are answered; then all sign-ins wait. */
const MOST_WRONG = 20

const COOKIE = 'pg_tasks_dashboard'

/** Who may use the dashboard: by token and session cookie, by the caller's own function, or, on loopback, whoever is there. */
export class Access {
  readonly #options: ResolvedDashboardOptions
  /** Whether requests to this machine itself are let in without a sign-in. */
  readonly #open: boolean
  /** Sessions end with the process that gave them, and with a change of the token. */
  readonly #secret = randomBytes(32)
  #wrong = { count: 0, since: 0 }

  constructor(options: ResolvedDashboardOptions, open: boolean) {
    this.#options = options
    this.#open = open
  }

  /** Whether users sign in here, with a token. */
  get byToken(): boolean {
    return this.#options.users.length > 0
  }

  /** Who makes the request; null: nobody who may. */
  async userOf(request: Request): Promise<DashboardUser | null> {
    const { authenticate } = this.#options
    if (authenticate !== undefined) return (await authenticate(request)) ?? null
    if (this.byToken) return this.#userOfHeader(request) ?? this.#userOfCookie(request)
    // Without a sign-in, a page of another site must not reach us under a name that it resolves to 127.0.0.1.
    return this.#open && isLoopback(new URL(request.url).hostname) ? { name: 'local' } : null
  }

  /** The user of a token; undefined if there is none. Every token is compared, whichever fits. */
  signIn(token: string): TokenUser | undefined {
    if (this.throttled) return undefined
    let found: TokenUser | undefined
    for (const user of this.#options.users) {
      if (sameText(user.token, token)) found = user
    }
    if (found === undefined) this.#countWrong()
    return found
  }

  /** Whether too many wrong tokens came in the last minute. */
  get throttled(): boolean {
    return performance.now() - this.#wrong.since < 60_000 && this.#wrong.count >= MOST_WRONG
  }

  /** Set-Cookie of a session. */
  cookieFor(user: TokenUser, secure: boolean): string {
    const content = Buffer.from(JSON.stringify([user.name, Date.now() + SESSION_MS])).toString('base64url')
    return this.#cookie(`${content}.${this.#sign(content, user.token)}`, SESSION_MS / 1_000, secure)
  }

  /** Set-Cookie that ends a session. */
  endedCookie(secure: boolean): string {
    return this.#cookie('', 0, secure)
  }

  /** What a request that changes something must carry; a page of another site can't read it. */
  csrfToken(user: DashboardUser): string {
    return this.#sign('csrf', user.name)
  }

  isCsrfToken(user: DashboardUser, given: string | undefined): boolean {
    return given !== undefined && sameText(this.csrfToken(user), given)
  }

  #userOfHeader(request: Request): DashboardUser | undefined {
    const [scheme = '', credentials = ''] = (request.headers.get('authorization') ?? '').split(' ', 2)
    switch (scheme.toLowerCase()) {
      case 'bearer':
        return this.signIn(credentials)
      case 'basic':
        return this.signIn(
          Buffer.from(credentials, 'base64')
            .toString()
            .replace(/^[^:]*:/, ''),
        )
      default:
        return undefined
    }
  }

  #userOfCookie(request: Request): DashboardUser | null {
    const cookies = (request.headers.get('cookie') ?? '').split(/;\s*/)
    const value = cookies.find((one) => one.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1) ?? ''
    const [content = '', signature = ''] = value.split('.')
    for (const user of this.#options.users) {
      if (!sameText(this.#sign(content, user.token), signature)) continue
      const [name, until] = JSON.parse(Buffer.from(content, 'base64url').toString()) as [string, number]
      return name === user.name && until > Date.now() ? user : null
    }
    return null
  }

  #cookie(value: string, maxAge: number, secure: boolean): string {
    const path = this.#options.basePath || '/'
    return `${COOKIE}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  }

  #sign(content: string, key: string): string {
    return createHmac('sha256', this.#secret).update(`${key.length}:${key}${content}`).digest('base64url')
  }

  #countWrong(): void {
    const now = performance.now()
    if (now - this.#wrong.since >= 60_000) this.#wrong = { count: 0, since: now }
    this.#wrong.count += 1
  }
}

/** Compares digests, so that neither length nor content shows in the time it takes. */
function sameText(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
