import { PrismaPg } from '@prisma/adapter-pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../../support/test-database.js'
import { adapterCases } from './adapter-cases.js'
import { fromPrisma } from './from-prisma.js'
import { type GeneratedPrisma, generatePrisma, type PrismaClient } from './generate-prisma.js'

let database: TestDatabase
let generated: GeneratedPrisma
let prisma: PrismaClient

beforeAll(async () => {
  database = await createDatabase()
  generated = await generatePrisma()
  prisma = new generated.PrismaClient({ adapter: new PrismaPg({ connectionString: database.url, max: 2 }) })
})

afterAll(async () => {
  await prisma.$disconnect()
  generated.remove()
})

describe('Prisma', () => {
  adapterCases({
    database: () => database,
    connection: () => fromPrisma(prisma),
    transaction: (work) => prisma.$transaction((tx) => work(fromPrisma(tx))),
  })

  it('passes on its own errors as they are', async () => {
    const refusing = { $queryRawUnsafe: () => Promise.reject(new TypeError('of its own')) }
    await expect(fromPrisma(refusing).query('select 1')).rejects.toThrow(TypeError)
  })
})
