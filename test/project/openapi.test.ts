// The OpenAPI documents, as a running service hands them out, under the strictest ruleset of an independent linter.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startFresh } from '../support/fresh.ts'

const service = await startFresh({ after })

for (const [name, url] of [
  ['partner', service.url],
  ['operator', service.operatorUrl],
] as const) {
  test(`the ${name} document has no error and no warning under recommended-strict`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'partner-service-openapi-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'openapi.json')
    writeFileSync(file, await (await fetch(`${url}/openapi.json`)).text())
    // The linter's own entry point, run by the Node that runs this, with nothing sent anywhere.
    const lint = spawnSync(
      process.execPath,
      ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--extends', 'recommended-strict', '--format', 'json', file],
      {
        encoding: 'utf8',
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', DO_NOT_TRACK: '1' },
      },
    )
    assert.ok(lint.stdout.includes('{'), `the linter said nothing:\n${lint.stderr}`)
    const { totals, problems } = JSON.parse(lint.stdout.slice(lint.stdout.indexOf('{')))
    assert.deepEqual(totals, { errors: 0, warnings: 0, ignored: 0 }, JSON.stringify(problems, null, 2))
    assert.equal(lint.status, 0)
  })

  test(`the ${name} reference loads nothing from elsewhere and runs no script`, async () => {
    const reply = await fetch(`${url}/docs`)
    const page = await reply.text()
    assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.doesNotMatch(page, /<script|<link|<img|<iframe|@import|url\(| on\w+=/i)
    const targets = [...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!)
    const anchors = new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => `#${id}`))
    assert.ok(targets.length > 5)
    for (const target of targets) {
      assert.ok(target === '/openapi.json' || anchors.has(target), `${target} leads nowhere`)
    }
  })
}
