import { describe, expect, it } from 'vitest'
import { PgTasksError } from '../../../packages/client/src/errors/pg-tasks-error.js'
import { redact } from '../../../packages/client/src/errors/redact.js'

describe('redact', () => {
  it.each([
    ['postgres://app:hunter2@host:5432/db', 'postgres://app:***@host:5432/db'],
    ['postgresql://app:hunter2@host/db?sslmode=require', 'postgresql://app:***@host/db?sslmode=require'],
    ['POSTGRES://app:hunter2@host/db', 'POSTGRES://app:***@host/db'],
    ['postgres://:hunter2@host/db', 'postgres://:***@host/db'],
    ['postgres://app:p%40ss@host/db', 'postgres://app:***@host/db'],
    ['postgres://app:hu@nter:2/x@host/db', 'postgres://app:***@host/db'],
    ['socket://app:hunter2@/tmp', 'socket://app:***@/tmp'],
    ['https://app:hunter2@host/', 'https://app:***@host/'],
    ['postgres:///db?host=/tmp&user=u&password=hunter2&x=1', 'postgres:///db?host=/tmp&user=u&password=***&x=1'],
    ["host=/tmp password='hun ter\\'2' user=u", 'host=/tmp password=*** user=u'],
    ['host=/tmp password = hunter2 user=u', 'host=/tmp password = *** user=u'],
    ['PGPASSWORD=hunter2 psql', 'PGPASSWORD=*** psql'],
    [`{"user":"u","password":"hun\\"ter2"}`, `{"user":"u","password":'***'}`],
    [`{ password: 'hunter2', user: 'u' }`, `{ password: '***', user: 'u' }`],
  ])('hides the password of %s', (text, hidden) => {
    expect(redact(text)).toBe(hidden)
  })

  it.each([
    'password authentication failed for user "app"',
    'postgres://host:5432/db',
    'postgres://app@host/db',
    'see https://example.com:8080/a@b',
    'connect ECONNREFUSED 127.0.0.1:5432',
  ])('leaves %s alone', (text) => {
    expect(redact(text)).toBe(text)
  })

  it('works on every message of our errors', () => {
    expect(new PgTasksError('CLOSED', 'lost postgres://a:hunter2@h/d').message).toBe('lost postgres://a:***@h/d')
  })
})
