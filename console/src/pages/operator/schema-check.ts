// Checks a value against a JSON schema of the OpenAPI document: as much of it as that document uses. The service checks again, and
// more.

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly uniqueItems?: boolean
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}
export interface SchemaDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>>
  >
}

// `place what` for each mistake, the first few.
export function checkSchema(document: unknown, schema: Schema, value: unknown): string[] {
  const mistakes: string[] = []
  check(schema, value, '')
  return mistakes.slice(0, 20)

  function resolve(found: Schema): Schema {
    if (found.$ref === undefined) return found
    const parts = found.$ref.replace(/^#\//, '').split('/')
    const target = parts.reduce<unknown>(
      (here, part) =>
        (here as Record<string, unknown> | undefined)?.[
          decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
        ],
      document,
    )
    return resolve((target ?? {}) as Schema)
  }

  function check(given: Schema, here: unknown, place: string): void {
    const rule = resolve(given)
    const refuse = (what: string) => {
      mistakes.push(`${place === '' ? 'The configuration' : place} ${what}`)
    }
    const either = rule.anyOf ?? rule.oneOf
    if (either) {
      if (!either.some((each) => checkSchema(document, each, here).length === 0))
        refuse('has a value that is not allowed')
      return
    }
    if (rule.enum && !rule.enum.includes(here)) {
      refuse(`must be one of ${rule.enum.join(', ')}`)
      return
    }
    if (rule.const !== undefined && rule.const !== here) {
      refuse(`must be ${String(rule.const)}`)
      return
    }
    if (rule.type !== undefined && ![rule.type].flat().some((type) => isA(type, here))) {
      refuse(`must be ${article(rule.type)}`)
      return
    }
    if (typeof here === 'string') checkText(rule, here, refuse)
    else if (typeof here === 'number') {
      if (rule.minimum !== undefined && here < rule.minimum) refuse(`must be at least ${rule.minimum}`)
      if (rule.maximum !== undefined && here > rule.maximum) refuse(`must be at most ${rule.maximum}`)
    } else if (Array.isArray(here)) {
      if (rule.minItems !== undefined && here.length < rule.minItems)
        refuse(`must have at least ${rule.minItems} items`)
      if (rule.maxItems !== undefined && here.length > rule.maxItems) refuse(`must have at most ${rule.maxItems} items`)
      if (rule.uniqueItems && new Set(here.map((each) => JSON.stringify(each))).size < here.length)
        refuse('repeats an item')
      if (rule.items) for (const [i, item] of here.entries()) check(rule.items, item, `${place}[${i}]`)
    } else if (here !== null && typeof here === 'object') checkMembers(rule, here as Record<string, unknown>, place)
  }

  function checkMembers(rule: Schema, here: Record<string, unknown>, place: string): void {
    const inside = (name: string) => (place === '' ? name : `${place}.${name}`)
    for (const name of rule.required ?? []) if (!Object.hasOwn(here, name)) mistakes.push(`${inside(name)} is required`)
    for (const [name, value] of Object.entries(here)) {
      const member = rule.properties && Object.hasOwn(rule.properties, name) ? rule.properties[name] : undefined
      if (member) check(member, value, inside(name))
      else if (rule.additionalProperties === false) mistakes.push(`${inside(name)} is not a known member`)
    }
  }
}

function checkText(rule: Schema, text: string, refuse: (what: string) => void): void {
  if (rule.minLength !== undefined && text.length < rule.minLength)
    refuse(rule.minLength === 1 ? 'must not be empty' : `must have at least ${rule.minLength} characters`)
  if (rule.maxLength !== undefined && text.length > rule.maxLength)
    refuse(`must have at most ${rule.maxLength} characters`)
  if (rule.pattern !== undefined && !new RegExp(rule.pattern, 'u').test(text)) refuse(`must match ${rule.pattern}`)
}

function isA(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value)
  return typeof value === type
}

function article(type: string | readonly string[]): string {
  return [type]
    .flat()
    .map((each) => (/^[aio]/.test(each) ? `an ${each}` : `a ${each}`))
    .join(' or ')
}
