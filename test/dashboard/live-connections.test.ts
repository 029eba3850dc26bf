import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createDatabase } from '../support/test-database.js'
import { useBrowser } from './support/browser.js'
import { createSampleTypes } from './support/sample-types.js'
import { serveDashboard } from './support/serve-dashboard.js'

const open = useBrowser()
const database = await createDatabase()
const connectionString = database.url
await createSampleTypes(database.pool)

it('tabs that are hidden leave the browser’s connections to the one that is looked at', async () => {
  const { url } = await serveDashboard({ connectionString })
  const { page } = await open(url)
  for (let tab = 1; tab <= 8; tab += 1) {
    const next = tab === 1 ? page : await page.context().newPage()
    if (tab > 1) await next.goto(url)
    await next.getByText('Live', { exact: true }).waitFor()
    await next.getByRole('link', { name: /^send_invoice: ready/ }).waitFor()
    await hide(true)
    async function hide(hidden: boolean): Promise<void> {
      await next.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`)
    }
  }
  // One that is looked at again goes on.
  await database.pool.query('insert into tasks.nightly_report default values')
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: false, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`)
  await page
    .getByRole('link', { name: /^nightly_report: ready/ })
    .getByText('1')
    .waitFor()
})

it('is live again when a proxy before it has said that it is away', async () => {
  const { url } = await serveDashboard({ connectionString })
  let away = false
  const proxy = createServer((incoming, outgoing) => {
    if (away) {
      outgoing.writeHead(502).end('<h1>Bad gateway</h1>')
      return
    }
    const { method, headers, url: path } = incoming
    const passed = request(new URL(path ?? '/', url), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const { page } = await open(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`, { mayComplain: true })
  await page.getByText('Live', { exact: true }).waitFor()
  away = true
  const refused = page.waitForResponse(
    (response) => response.url().endsWith('/api/events') && response.status() === 502,
  )
  proxy.closeAllConnections()
  await page.getByText('No connection').waitFor()
  await refused
  away = false
  await page.getByText('Live', { exact: true }).waitFor()
})

it('an address with a percent sign that means nothing is answered', async () => {
  const { url } = await serveDashboard({ connectionString })
  const { page } = await open(`${url}types/tasks/50%25`, { mayComplain: true })
  await page.evaluate(`history.replaceState(null, '', location.pathname.replace('%25', '%'))`)
  await page.reload()
  await page.getByText('There is no such task type.').first().waitFor()
  expect(page.url()).toMatch(/50%$/)
})
