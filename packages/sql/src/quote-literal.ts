/** A text as a literal of a statement that is shown to people; parameters are for statements that we send. */
export function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
