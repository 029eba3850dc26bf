import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import type { ConnectionOptions } from '../../../packages/client/src/connection/connection-options.js'
import { ConnectionSource, resolveConnection } from '../../../packages/client/src/connection/connection-source.js'
import { createClient } from '../../../packages/client/src/connection/create-client.js'
import { InvalidOptionError } from '../../../packages/client/src/errors/invalid-option-error.js'

const resolve = (options: unknown) => resolveConnection('Worker', options as ConnectionOptions)

function refusalOf(options: unknown): InvalidOptionError {
  try {
    resolve(options)
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionError)
    return error as InvalidOptionError
  }
  throw new Error('was accepted')
}

describe('resolveConnection', () => {
  it.each([
    ['postgres://u:p@db.example.com:6432/shop', 'db.example.com:6432'],
    ['postgresql://u@db.example.com/shop', 'db.example.com:5432'],
    ['postgres://u:p%40ss%23w%3Ao%2Frd%25@db/shop', 'db:5432'],
    ['postgres://u:p@[::1]:5433/shop', '[::1]:5433'],
    ['postgres:///db?host=/path/to/socket&user=u', '/path/to/socket'],
    ['postgres://u@%2Fvar%2Frun/db', '/var/run'],
    ['postgres://u@/db', 'localhost:5432'],
    ['postgres:///db', 'localhost:5432'],
    ['postgres://user%40tenant:p@db/shop?options=-c%20search_path%3Dx', 'db:5432'],
    ['postgres://db/shop?user=me@tenant', 'db:5432'],
    ['/var/run/postgresql shop', '/var/run/postgresql'],
  ])('takes %s', (connectionString, address) => {
    const { servers } = resolve({ connectionString })
    expect(servers).toEqual([{ config: { connectionString }, address }])
  })

  it('means by a string what node-postgres makes of it', () => {
    const made = (connectionString: string) => {
      const { current } = resolve({ connectionString })
      const { client } = createClient(current.config, 'test')
      const { host, port, user, database, password } = client
      return { host, port, user, database, password }
    }
    const encoded = made('postgres://u:p%40ss%23w%3Ao%2Frd%25@db.example.com:6432/shop')
    const address = { host: 'db.example.com', port: 6432, user: 'u', database: 'shop' }
    expect(encoded).toEqual({ ...address, password: 'p@ss#w:o/rd%' })
    expect(made('postgres:///shop?host=/path/to/socket&user=u')).toMatchObject({
      host: '/path/to/socket',
      user: 'u',
      database: 'shop',
    })
    expect(made('postgres://u:p@%2Fpath/shop')).toMatchObject({
      host: '/path',
      user: 'u',
      database: 'shop',
      password: 'p',
    })
    expect(made('/path shop')).toMatchObject({ host: '/path', database: 'shop' })
  })

  it.each([
    ['host=/tmp dbname=x password=hunter2', /key=value.*postgres:\/\/\/database\?host=\/tmp/],
    ['  dbname = x', /key=value/],
    ['db.example.com/shop', /must begin with postgres:\/\//],
    ['mysql://u:hunter2@db/shop', /must begin with postgres:\/\//],
    ['/tmp dbname=x', /must begin|key=value/],
    ['postgres://u:12#hunter2@db/shop', /has a "#".*Percent-encode/],
    ['postgres://u:1234/hunter2@db/shop', /"@" after its host.*Percent-encode/],
    ['postgres://u:1234?hunter2@db/shop', /"@" after its host.*Percent-encode/],
    ['postgres://u:hunter2/x@db/shop', /not a valid URL.*Percent-encode/],
    ['postgres://u:hunter2%@db/shop', /encodes nothing.*Percent-encode/],
    ['postgres://u:hunter2@db:port/shop', /not a valid URL/],
    ['', /is empty: is the environment variable set/],
    ['  ', /is empty/],
    [undefined, /is undefined: is the environment variable set/],
    [null, /must be a URL/],
    [5432, /must be a URL/],
    [[], /is an empty list/],
    [['postgres://a/b', 'host=b'], /key=value/],
  ])('refuses %s readably', (connectionString, message) => {
    const error = refusalOf({ connectionString })
    expect(error).toMatchObject({ code: 'INVALID_OPTION', option: 'connectionString' })
    expect(error.message).toMatch(message)
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter2')
    expect(error.cause).toBeUndefined()
  })

  it('wants to be told where the database is', () => {
    expect(refusalOf({}).message).toMatch(/is missing: give it .*, or "connectionConfig", or a "pool"/)
  })

  it('takes an empty configuration for the PG environment', () => {
    expect(resolve({ connectionConfig: {} }).servers).toEqual([{ config: {}, address: 'localhost:5432' }])
  })

  it.each([
    ['postgres://a/b', 'A URL goes into "connectionString"'],
    [null, 'must be an object'],
    [{ dbname: 'x' }, '"database"'],
    [{ username: 'x' }, '"user"'],
    [{ connectionString: 'host=/tmp' }, 'key=value'],
  ])('refuses the configuration %j', (connectionConfig, message) => {
    expect(refusalOf({ connectionConfig }).message).toContain(message)
  })

  it('uses the configuration for every one of several servers', () => {
    const ssl = { ca: 'x' }
    const { servers } = resolve({ connectionString: ['postgres://a/d', 'postgres://b/d'], connectionConfig: { ssl } })
    expect(servers.map((server) => server.config)).toEqual([
      { connectionString: 'postgres://a/d', ssl },
      { connectionString: 'postgres://b/d', ssl },
    ])
  })

  it('warns that sslmode in the URL and the ssl setting contradict', () => {
    const connectionString = 'postgres://u:hunter2@db/shop?sslmode=require'
    const { warnings } = resolve({ connectionString, connectionConfig: { ssl: { rejectUnauthorized: false } } })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatch(/db:5432.*ignores the "ssl" setting/)
    expect(warnings[0]).not.toContain('hunter2')
    expect(resolve({ connectionString }).warnings).toEqual([])
  })
})

describe("the options of the user's pool", () => {
  it('are taken over with the password and the key, which pg hides', () => {
    const ssl = { key: 'private', cert: 'public', rejectUnauthorized: true }
    const pool = new Pool({ host: 'db', port: 6432, user: 'u', password: 'hunter2', ssl, max: 3 })
    const source = resolve({ pool })
    expect(source.pool).toBe(pool)
    expect(source.current.address).toBe('db:6432')
    expect(source.current.config).toMatchObject({ host: 'db', user: 'u', password: 'hunter2', ssl })
    expect(source.current.config).not.toHaveProperty('max')
    expect(source.current.config).not.toHaveProperty('Client')
  })

  it('are not needed if a connection string is given besides', () => {
    const pool = { connect: () => {}, query: () => {} }
    expect(refusalOf({ pool }).message).toContain('give "connectionString" besides')
    expect(resolve({ pool, connectionString: 'postgres://direct/d' }).current.address).toBe('direct:5432')
  })

  it.each([null, 5, {}, { connect: () => {} }])('are refused of %j, which is no pool', (pool) => {
    expect(refusalOf({ pool })).toMatchObject({ option: 'pool' })
  })
})

describe('ConnectionSource', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((address) => ({ config: {}, address }))
  const order = (source: ConnectionSource) => source.servers.map((server) => server.address).join('')

  it('tries the server first that worked last', () => {
    if (!a || !b || !c) throw new Error()
    const source = new ConnectionSource([a, b, c])
    expect(order(source)).toBe('abc')
    source.succeeded(b)
    expect(order(source)).toBe('bca')
    source.failed(a)
    expect(order(source)).toBe('bca')
    source.failed(b)
    expect(order(source)).toBe('cab')
    source.failed(c)
    source.failed(a)
    expect(order(source)).toBe('bca')
  })
})
