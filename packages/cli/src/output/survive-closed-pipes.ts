/**
 * What is written to a pipe whose reader has gone, or to a full disk, must not end the process with an unhandled error. Whoever
 * read standard error may go: the work goes on. Whoever read the answer has had enough: that is no failure.
 */
export function surviveClosedPipes(onAnswerLost: (error: NodeJS.ErrnoException) => void): void {
  process.stderr.on('error', () => {})
  process.stdout.on('error', onAnswerLost)
}
