// Generated files are committed, so that people can read them without running anything; these tests keep them true.
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { generatedFiles } from '../../scripts/generate.ts'

for (const [path, text] of Object.entries(await generatedFiles())) {
  test(`${path} is what npm run generate makes`, () => {
    assert.equal(existsSync(path) ? readFileSync(path, 'utf8') : '', text, 'stale: run npm run generate and commit')
  })
}

test('every link between the documents leads somewhere', () => {
  const pages = [...globSync('*.md'), ...globSync('docs/**/*.md')]
  const broken = pages.flatMap((page) => {
    const text = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
    return [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"/g)]
      .map(([, link, source]) => (link ?? source)!)
      .filter((link) => !/^(https?:|mailto:|#)/.test(link))
      .filter((link) => !existsSync(join(dirname(page), link.split('#')[0]!)))
      .map((link) => `${page} → ${link}`)
  })
  assert.ok(pages.length > 10, 'the documents were found')
  assert.deepEqual(broken, [])
})
