/** A Markdown table. */
export function table(names, rows) {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')))
  const lines = [names, names.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`)
  return lines.join('\n')
}

export function code(text) {
  return `\`${text}\``
}
