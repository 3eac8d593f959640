// The operator's commands: each is one call of the operator API and a table for people, or the reply itself with --json.
import { readFileSync } from 'node:fs'
import type { Command } from './command.ts'
import { callOperator, callOperatorList, type Json } from './operator-client.ts'
import { card, table } from './output.ts'

export const operatorCommands: readonly Command[] = [
  {
    words: 'partners create',
    args: ['<name>'],
    options: { configuration: 'a JSON file with the configuration' },
    summary: 'Create a partner.',
    async run({ args: [name], options, json }) {
      const configuration =
        options.configuration === undefined ? {} : { configuration: readJson(options.configuration) }
      return card(await callOperator('POST', '/partners', { name, ...configuration }), json)
    },
  },
  {
    words: 'partners list',
    summary: 'List partners.',
    run: async ({ json }) =>
      table(await callOperatorList('/partners', 'partners'), ['id', 'name', 'state', 'created_at'], json),
  },
  {
    words: 'partners show',
    args: ['<partner_id>'],
    summary: 'Show a partner.',
    run: async ({ args: [id], json }) => card(await callOperator('GET', `/partners/${id}`), json),
  },
  {
    words: 'partners suspend',
    args: ['<partner_id>'],
    summary: 'Refuse all calls of a partner until it is activated again.',
    run: async ({ args: [id], json }) =>
      card(await callOperator('PATCH', `/partners/${id}`, { state: 'suspended' }), json),
  },
  {
    words: 'partners activate',
    args: ['<partner_id>'],
    summary: 'End a suspension.',
    run: async ({ args: [id], json }) =>
      card(await callOperator('PATCH', `/partners/${id}`, { state: 'active' }), json),
  },
  {
    words: 'configuration show',
    args: ['<partner_id>'],
    summary: 'Print the configuration of a partner as JSON.',
    run: async ({ args: [id] }) => card(await callOperator('GET', `/partners/${id}/configuration`), true),
  },
  {
    words: 'configuration write',
    args: ['<partner_id>', '<file>'],
    summary: 'Write the configuration of a partner, whole, from a JSON file.',
    async run({ args: [id, file], json }) {
      const written = await callOperator('PUT', `/partners/${id}/configuration`, readJson(file!))
      if (json) return card(written, true)
      return card(await callOperator('GET', `/partners/${id}`), false)
    },
  },
  {
    words: 'configuration versions',
    args: ['<partner_id>'],
    summary: 'List the versions of a configuration: who wrote them, and when.',
    run: async ({ args: [id], json }) =>
      table(
        await callOperatorList(`/partners/${id}/configuration/versions`, 'versions'),
        ['version', 'created_at', 'created_by'],
        json,
      ),
  },
  {
    words: 'keys create',
    args: ['<partner_id>', '<name>'],
    options: {
      scopes: 'separated by commas, for example partner:read,webhooks:write',
      cidrs: 'addresses that may use it, separated by commas',
      expires: 'when it stops working, for example 2027-01-31T00:00:00Z',
      algorithm: 'for signed tokens: RS256, RS512, ES256 or EdDSA',
      'public-key': 'for signed tokens: a PEM file with the public key',
    },
    summary: 'Create an API key for a partner; the secret is shown once.',
    async run({ args: [id, name], options, json }) {
      const wanted = {
        name,
        scopes: options.scopes?.split(',') ?? [],
        ...(options.cidrs ? { allowed_cidrs: options.cidrs.split(',') } : {}),
        ...(options.expires ? { expires_at: options.expires } : {}),
        ...(options.algorithm ? { algorithm: options.algorithm } : {}),
        ...(options['public-key'] ? { public_key: readText(options['public-key']) } : {}),
      }
      return card(await callOperator('POST', `/partners/${id}/keys`, wanted), json)
    },
  },
  {
    words: 'keys list',
    args: ['<partner_id>'],
    summary: 'List the API keys of a partner.',
    run: async ({ args: [id], json }) =>
      table(
        await callOperatorList(`/partners/${id}/keys`, 'keys'),
        ['id', 'name', 'kind', 'scopes', 'last_used_at', 'revoked_at'],
        json,
      ),
  },
  {
    words: 'keys revoke',
    args: ['<partner_id>', '<key_id>'],
    summary: 'Revoke an API key, everywhere within a second.',
    run: async ({ args: [id, keyId], json }) =>
      card(await callOperator('DELETE', `/partners/${id}/keys/${keyId}`), json),
  },
  {
    words: 'tokens create',
    args: ['<name>', '<roles>'],
    summary: 'Create an operator token; roles are read, support, payouts, admin, separated by commas.',
    run: async ({ args: [name, roles], json }) =>
      card(await callOperator('POST', '/tokens', { name, roles: roles!.split(',') }), json),
  },
  {
    words: 'tokens list',
    summary: 'List operator tokens.',
    run: async ({ json }) =>
      table(await callOperatorList('/tokens', 'tokens'), ['id', 'name', 'roles', 'created_at', 'revoked_at'], json),
  },
  {
    words: 'tokens revoke',
    args: ['<token_id>'],
    summary: 'Revoke an operator token.',
    run: async ({ args: [id], json }) => card(await callOperator('DELETE', `/tokens/${id}`), json),
  },
  {
    words: 'events publish',
    args: ['<file>'],
    summary: 'Publish the event, or {"events": [ … ]}, in a JSON file; prints the event ids.',
    run: async ({ args: [file], json }) => card(await callOperator('POST', '/events', readJson(file!)), json),
  },
  {
    words: 'signing-keys list',
    summary: 'List the keys that webhooks are signed with.',
    async run({ json }) {
      const { signing_keys: keys } = (await callOperator('GET', '/signing-keys')) as { signing_keys: Json[] }
      return table(keys, ['id', 'algorithm', 'signs_from', 'published_until', 'created_by'], json)
    },
  },
  {
    words: 'signing-keys rotate',
    options: { now: 'yes: after a compromise; the new key signs at once and the old ones are withdrawn' },
    summary: 'Make a new signing key; it is published at once and signs after a day.',
    run: async ({ options, json }) =>
      card(await callOperator('POST', '/signing-keys/rotate', { now: options.now === 'yes' }), json),
  },
  {
    words: 'signing-keys reencrypt',
    summary: 'Encrypt the signing keys with the first version in MASTER_KEY.',
    run: async ({ json }) => card(await callOperator('POST', '/signing-keys/reencrypt'), json),
  },
  {
    words: 'audit-log',
    options: { partner: 'only what concerned this partner', limit: 'how many entries, at most 100 (default 50)' },
    summary: 'Show who did what, newest first.',
    async run({ options, json }) {
      const query = new URLSearchParams({
        limit: options.limit ?? '50',
        ...(options.partner ? { partner_id: options.partner } : {}),
      })
      const { entries } = (await callOperator('GET', `/audit-log?${query}`)) as { entries: Json[] }
      const rows = entries.map((entry) => ({
        ...entry,
        who: `${(entry.actor as Json).kind} ${(entry.actor as Json).name}`,
      }))
      return json ? card({ entries }, true) : table(rows, ['at', 'who', 'action', 'partner_id', 'target_id'], false)
    },
  },
]

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new Error(`Cannot read ${file}.`)
  }
}

function readJson(file: string): unknown {
  const text = readText(file)
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${file} is not valid JSON.`)
  }
}
