import type { Queryable } from '@pg-tasks/sql'

/** The part of a Prisma client or of its interactive transaction that the recipe uses. */
interface PrismaLike {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>
}

/** The connection of a Prisma client, or of its interactive transaction, for tasks. */
export function fromPrisma(prisma: PrismaLike): Queryable {
  return {
    async query(text, values = []) {
      try {
        const rows = (await prisma.$queryRawUnsafe(text, ...values)) as Array<Record<string, unknown>>
        return { rows: rows.map(withPlainValues), rowCount: rows.length }
      } catch (error) {
        throw databaseErrorOf(error)
      }
    },
  }
}

/** Prisma reads bigint as BigInt and numeric as Decimal; tasks have strings there. */
function withPlainValues(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plain(value)]))
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  const isDecimal = typeof value === 'object' && value !== null && 'toFixed' in value
  return typeof value === 'bigint' || isDecimal ? String(value) : value
}

/** Prisma hides the SQLSTATE, by which tasks tell what went wrong. */
function databaseErrorOf(error: unknown): unknown {
  const { cause } =
    (error as { meta?: { driverAdapterError?: { cause?: Record<string, unknown> } } }).meta?.driverAdapterError ?? {}
  if (cause?.originalCode === undefined) return error
  const { originalCode: code, originalMessage, detail, hint } = cause
  return Object.assign(new Error(String(originalMessage), { cause: error }), { code, detail, hint })
}
