// A person at the console: a real Chromium that opens pages, with everything noted that must never happen: errors in the browser's
// console, requests that leave the origin, findings of axe-core.
import assert from 'node:assert/strict'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { chromiumPath } from './chromium.ts'
import { eventually } from './endpoint.ts'
import type { TestService } from './service.ts'

interface Stoppable {
  after(work: () => Promise<void> | void): void
}

export async function startBrowser(t: Stoppable): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'], // root in a container has no sandbox
  })
  t.after(() => browser.close())
  return browser
}

export interface Visitor {
  readonly page: Page
  readonly origin: string
  open(path: string): Promise<void> // a path of the console, as in its menu
  go(path: string): Promise<void> // the same without loading anew, as a link of the console does
  forgive(what: RegExp): void // refusals that a test means to cause show up in the browser's console
  assertFine(): void
  close(): Promise<void>
}

export interface VisitOptions extends BrowserContextOptions {
  readonly as?: 'partner' | 'operator'
  readonly secret?: string | null // null: not signed in
}

export async function visit(browser: Browser, service: TestService, options: VisitOptions = {}): Promise<Visitor> {
  const { as = 'partner', secret, ...contextOptions } = options
  const origin = as === 'partner' ? service.url : service.operatorUrl
  const home = as === 'partner' ? '/console' : ''
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    locale: 'en-GB',
    timezoneId: 'America/Argentina/Buenos_Aires',
    reducedMotion: 'reduce', // what fades in has no contrast yet
    ...contextOptions,
  })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const problems: string[] = []
  const forgiven: RegExp[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`${message.text()} ${message.location().url}`)
  })
  page.on('pageerror', (error) => problems.push(error.message))
  context.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:'))
      problems.push(`a request left the origin: ${request.url()}`)
  })
  const addressOf = (path: string) => home + (path === '/' ? '' : path) || '/'
  const visitor: Visitor = {
    page,
    origin,
    async open(path) {
      await page.goto(origin + addressOf(path))
      await page.getByRole('heading', { level: 1 }).waitFor()
    },
    async go(path) {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(addressOf(path))}); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await settled(page)
    },
    forgive: (what) => void forgiven.push(what),
    assertFine() {
      const left = problems.filter((problem) => !forgiven.some((what) => what.test(problem)))
      assert.deepEqual(left, [], 'nothing went wrong in the browser')
    },
    close: () => context.close(),
  }
  const credential = secret === undefined ? (as === 'partner' ? service.demoSecret : service.operatorToken) : secret
  if (credential !== null) await signIn(visitor, credential, as)
  return visitor
}

export async function signIn(
  { page, open }: Visitor,
  secret: string,
  as: 'partner' | 'operator' = 'partner',
): Promise<void> {
  await open('/')
  await page.getByLabel(as === 'partner' ? 'API key' : 'Operator token', { exact: true }).fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor({ state: 'attached' })
}

const everyRule = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const rulesOfLook = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable']

// Everything that axe-core finds against WCAG 2.2 A and AA on what is on screen; or only what another theme or width can change.
export async function accessibilityFindings(page: Page, only?: 'look'): Promise<string[]> {
  const options = { runOnly: only ? rulesOfLook : everyRule, resultTypes: ['violations'], preload: false }
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(axe.source)
  const { violations } = (await page.evaluate(`axe.run(document, ${JSON.stringify(options)})`)) as axe.AxeResults
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${id} (${impact}): ${node.target} ${node.failureSummary}`),
  )
}

export async function assertAccessible(page: Page, what: string): Promise<void> {
  assert.deepEqual(await accessibilityFindings(page), [], `axe-core finds nothing on ${what}`)
}

// A page is done when nothing on it is loading any more.
export async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  const waiting = page.locator('.skeletons, .spinner')
  await eventually(async () => (await waiting.count()) === 0, 'the page to be done')
}
