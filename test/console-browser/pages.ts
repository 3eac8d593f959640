// Looks at every page of a console, once: axe-core in light and dark, wide and narrow; no width at which it has to be scrolled
// sideways; pictures for people. Used for partners and for operators, in test files that run beside each other.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import type { ConsoleSite } from '../support/console-site.ts'
import { accessibilityFindings, settled, visit } from '../support/visitor.ts'

const folder = 'test/console-browser/screenshots'
const wide = { width: 1440, height: 900 }
const narrow = { width: 390, height: 844 }
const main = [
  'overview',
  'events',
  'event-failed',
  'subscription',
  'order-confirm',
  'delivery',
  'configuration',
  'versions',
  'orders',
]

export async function lookAtPages(
  browser: Browser,
  { service }: ConsoleSite,
  as: 'partner' | 'operator',
  pages: Readonly<Record<string, string>>,
): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const visitor = await visit(browser, service, { as, viewport: wide, colorScheme: 'light' })
  const { page } = visitor
  const findings: string[] = [] // of all pages, so that one run tells everything
  const note = async (what: string, only?: 'look') => {
    findings.push(...(await accessibilityFindings(page, only)).map((finding) => `${what}: ${finding}`))
  }
  const shoot = (name: string) => page.screenshot({ path: `${folder}/${as}-${name}.png` })
  for (const [name, path] of Object.entries(pages)) {
    await visitor.go(path)
    const press = name === 'reconciliation' ? page.getByRole('button', { name: 'Reconcile now' }) : undefined
    await press?.click()
    await settled(page)
    await note(`${name}, light and wide`)
    await shoot(`${name}-light`)
    for (const width of [1920, 768, 360]) {
      await page.setViewportSize({ width, height: 900 })
      const beyond = await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')
      if ((beyond as number) > 0) findings.push(`${name} at ${width} px: ${beyond} px too wide`)
    }
    await page.setViewportSize(narrow)
    if (main.includes(name)) await shoot(`${name}-narrow-light`)
    await page.emulateMedia({ colorScheme: 'dark' })
    await note(`${name}, dark and narrow`, 'look')
    await shoot(`${name}-narrow-dark`)
    await page.setViewportSize(wide)
    if (main.includes(name)) await shoot(`${name}-dark`)
    await page.emulateMedia({ colorScheme: 'light' })
  }
  assert.deepEqual(findings, [])
  visitor.assertFine()
  await visitor.close()
}
