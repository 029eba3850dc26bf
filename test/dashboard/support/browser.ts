import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'

const EXECUTABLE = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'

/** A page, with everything that it complained about. */
export interface TestPage {
  readonly page: Page
  /** Errors of the console, breaches of the content-security-policy among them, and thrown ones. */
  readonly complaints: string[]
}

export type OpenPage = (
  url: string,
  options?: BrowserContextOptions & { readonly mayComplain?: boolean },
) => Promise<TestPage>

/** Chromium for a test file; each page is of its own and is closed at the end of its test, which fails if it complained. */
export function useBrowser(): OpenPage {
  let browser: Browser
  beforeAll(async () => {
    if (!existsSync(EXECUTABLE))
      throw new Error(`There is no ${EXECUTABLE}: apt-get install chromium, or set CHROMIUM_PATH.`)
    browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-gpu'] })
  })
  afterAll(() => browser.close())
  return async (url, { mayComplain = false, ...options } = {}) => {
    const context = await browser.newContext({
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      viewport: { width: 1280, height: 860 },
      ...options,
    })
    context.setDefaultTimeout(15_000)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    page.on('pageerror', (error) => complaints.push(String(error)))
    onTestFinished(async () => {
      await context.close()
      if (!mayComplain) expect(complaints).toEqual([])
    })
    await page.goto(url)
    return { page, complaints }
  }
}
