/** What a command's exit code means. Documented in every help and in docs/reference/cli.md. */
export const EXIT_CODES = {
  DONE: { code: 0, meaning: 'done' },
  FAILED: { code: 1, meaning: 'failed; the message says why' },
  USAGE: { code: 2, meaning: 'wrong usage: an option or argument is unknown, missing or can not be used' },
  NO_DATABASE: { code: 3, meaning: 'the database could not be reached' },
  NOT_CONFIRMED: { code: 4, meaning: 'not confirmed: nothing was changed' },
  WARNING: { code: 5, meaning: 'doctor: there are warnings; migrate --status: migrations are to be applied' },
  CRITICAL: {
    code: 6,
    meaning: 'doctor: something is critical; migrate --status: this version must not use the database',
  },
  ABORTED: { code: 130, meaning: 'ended at once by a second Ctrl-C' },
} as const

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES]['code']
