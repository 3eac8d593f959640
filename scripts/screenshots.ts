// `npm run screenshots`: the pictures of the console in docs/images, made anew by the tests that look at every page.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'

const made = 'test/console-browser/screenshots'
const best: Readonly<Record<string, string>> = {
  'partner-overview-light': 'overview-light',
  'partner-overview-dark': 'overview-dark',
  'partner-event-failed-light': 'event',
  'partner-order-confirm-light': 'order',
  'partner-events-narrow-dark': 'events-narrow',
  'partner-overview-narrow-light': 'overview-narrow',
  'operator-delivery-dark': 'delivery',
}

const pages = ['test/console-browser/all-']
const { status } = spawnSync('npm', ['test', '--', ...pages], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
mkdirSync('docs/images', { recursive: true })
for (const [from, to] of Object.entries(best)) copyFileSync(`${made}/${from}.png`, `docs/images/${to}.png`)
