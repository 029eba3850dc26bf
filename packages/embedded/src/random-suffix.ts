import { randomBytes } from 'node:crypto'

/** A few random letters for the names of files that are about to be renamed. */
export function randomSuffix(): string {
  return randomBytes(6).toString('hex')
}
