import type { Queryable } from '../connection.js'
import type { ResolvedDoctorOptions } from './doctor-options.js'
import type { ExaminedType } from './examined-types.js'
import type { Finding } from './finding.js'

/** What a check may look at. */
export interface Examination {
  readonly connection: Queryable
  readonly options: ResolvedDoctorOptions
  /** The registered types whose table is there. */
  readonly types: readonly ExaminedType[]
}

/** One question to the database. It only reads. */
export interface Check {
  readonly name: string
  readonly title: string
  examine(examination: Examination): Promise<readonly Finding[]>
}
