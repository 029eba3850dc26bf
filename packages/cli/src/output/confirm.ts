import { createInterface } from 'node:readline/promises'
import { CliError } from '../cli-error.js'
import { EXIT_CODES } from '../exit-codes.js'

/** Asks a question whose answer may be no. Without a terminal nobody can answer: then `--yes` must have been given. */
export async function confirm(
  question: string,
  { yes = false }: { readonly yes?: boolean | undefined },
): Promise<void> {
  if (yes) return
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    throw notConfirmed('Nobody can be asked here: give --yes to do it.')
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asking.question(`${question} [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw notConfirmed()
  } finally {
    asking.close()
  }
}

function notConfirmed(hint?: string): CliError {
  return new CliError('Nothing was changed.', {
    exitCode: EXIT_CODES.NOT_CONFIRMED.code,
    ...(hint === undefined ? {} : { hint }),
  })
}
