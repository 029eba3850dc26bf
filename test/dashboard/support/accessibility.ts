import axe from 'axe-core'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly help: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** What axe finds against WCAG 2.2 A and AA on the page as it is now; one line per finding. */
export async function axeViolations(page: Page): Promise<string[]> {
  // Through the debugger: a script element would be against the page's policy.
  await page.evaluate(axe.source)
  const violations = (await page.evaluate(`axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  }).then((result) => result.violations)`)) as readonly Violation[]
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(
      ({ html, failureSummary = '' }) =>
        `${id}: ${help}\n  ${html.slice(0, 200)}\n  ${failureSummary.replaceAll('\n', ' ').slice(0, 300)}`,
    ),
  )
}
