import { describe, expect, it } from 'vitest'
import { parseMigration, titleOf } from './migration.js'
import { readMigrations } from './read-migrations.js'

const SQL = `-- 0007_add_thing: a thing.

begin isolation level read committed;
select tasks.start_migration(7, 'add_thing');
create function f() returns void language plpgsql as $$
begin
  perform 1;
end
$$;

commit;
`

describe('parseMigration', () => {
  it('takes number and name from the name of the file', () => {
    const migration = parseMigration('0007_add_thing.sql', SQL)
    expect(migration).toMatchObject({ number: 7, name: 'add_thing' })
    expect(titleOf(migration)).toBe('0007_add_thing')
  })

  it('leaves the transaction out of the body, and only that', () => {
    const { body } = parseMigration('0007_add_thing.sql', SQL)
    expect(body).not.toMatch(/^begin.*;/m)
    expect(body).not.toContain('commit')
    expect(body).toContain('$$\nbegin\n  perform 1;\nend\n$$;')
  })

  it('gives a checkout with other line ends the same checksum', () => {
    const unix = parseMigration('0007_add_thing.sql', SQL)
    const windows = parseMigration('0007_add_thing.sql', SQL.replaceAll('\n', '\r\n'))
    expect(windows.checksum).toBe(unix.checksum)
    expect(windows.body).toBe(unix.body)
    expect(parseMigration('0007_add_thing.sql', `${SQL} `).checksum).not.toBe(unix.checksum)
  })

  it.each([
    ['seven.sql', SQL],
    ['0007-add-thing.sql', SQL],
    ['0007_add_thing.sql', SQL.replace('\ncommit;', '')],
    ['0007_add_thing.sql', SQL.replace('begin isolation level read committed;', '')],
    ['0007_add_thing.sql', `${SQL}\nbegin;\nselect 1;\ncommit;\n`],
    ['0007_add_thing.sql', `${SQL}\nselect 1;\n`],
  ])('refuses a file that is not one transaction or badly named (%#)', (name, sql) => {
    expect(() => parseMigration(name, sql)).toThrow(name)
  })
})

describe('the migrations of this package', () => {
  it('are found, numbered without gaps, and each records itself under its own name', async () => {
    const migrations = await readMigrations()
    expect(migrations.length).toBeGreaterThan(0)
    for (const { number, name, body } of migrations) {
      const record =
        number === 1
          ? `insert into tasks.migrations (number, name) values (1, '${name}');`
          : `select tasks.start_migration(${number}, '${name}'`
      expect(body).toContain(record)
    }
  })
})
