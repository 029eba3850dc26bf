import { METRICS, type MetricName } from '../measure/metrics.js'
import { type Summary, summarize } from '../measure/statistics.js'
import type { ResultAim, ResultRow, ScenarioResult } from '../results.js'
import { formatNumber } from './format-number.js'

/** A scenario as lines of cells; the first line is the head. */
export function tableOf(result: ScenarioResult): string[][] {
  const metrics = result.metrics.filter((metric) => result.rows.some((row) => row.values[metric] !== undefined))
  const head = ['', ...metrics.map((metric) => METRICS[metric].label)]
  return [head, ...result.rows.map((row) => [row.label, ...metrics.map((metric) => cell(row, metric))])]
}

/** The aims with what came out: ratio of the medians, and the range of the rounds' own ratios. */
export function aimsOf(result: ScenarioResult): string[][] {
  const head = ['aim', 'measured', 'rounds', '']
  return [
    head,
    ...result.aims.map((aim) => {
      const ratio = ratioOf(result, aim)
      if (ratio === undefined) return [aim.text, '–', '', 'not measured']
      const { median, min, max } = ratio
      return [
        aim.text,
        formatNumber(median, 2),
        `${formatNumber(min, 2)}–${formatNumber(max, 2)}`,
        isMet(aim, median) ? 'met' : 'missed',
      ]
    }),
  ]
}

/** Median: the ratio of the two medians. Range: of the ratios within a round, where both ran side by side. */
function ratioOf(result: ScenarioResult, aim: ResultAim): Summary | undefined {
  const of = result.rows.find((row) => row.key === aim.of)?.values[aim.metric]
  if (of === undefined) return undefined
  if (aim.than === undefined) return summarize(of)
  const than = result.rows.find((row) => row.key === aim.than)?.values[aim.metric]
  if (than === undefined) return undefined
  const { min, max } = summarize(of.flatMap((value, round) => (than[round] === undefined ? [] : [value / than[round]])))
  return { median: summarize(of).median / summarize(than).median, min, max }
}

function isMet({ atLeast, atMost }: ResultAim, ratio: number): boolean {
  return (atLeast === undefined || ratio >= atLeast) && (atMost === undefined || ratio <= atMost)
}

function cell(row: ResultRow, metric: MetricName): string {
  const values = row.values[metric]
  if (values === undefined) return '–'
  const { digits } = METRICS[metric]
  const { median, min, max } = summarize(values)
  if (values.length === 1) return formatNumber(median, digits)
  return `${formatNumber(median, digits)} (${formatNumber(min, digits)}–${formatNumber(max, digits)})`
}

/** Cells side by side, the columns aligned. */
export function alignTable(lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Cells as a table of Markdown. */
export function markdownTable(lines: readonly string[][]): string {
  const [head = [], ...body] = lines
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...body.map(line)].join('\n')
}
