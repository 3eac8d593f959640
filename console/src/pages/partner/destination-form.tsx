// The form of a destination, made from the account's configuration.
import { type FormEvent, useRef, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { type ApiError, nextKey, onceKey, send, toApiError } from '../../api/http.ts'
import type { Account, Instruction, OutgoingType } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { Empty, ErrorNotice, Loaded } from '../../ui/notice.tsx'
import { useToast } from '../../ui/toast.tsx'
import { fieldName, typeName } from './destination-words.tsx'
import { mistakeIn, ruleWords } from './field-rules.ts'

export function DestinationForm({ onMade }: { onMade: (instruction: Instruction) => void }) {
  const account = useRead<Account>('/partner')
  return (
    <Loaded read={account}>
      {({ available_outgoing_fiat_instructions: types = [] }) =>
        types.length === 0 ? (
          <Empty icon="destinations" title="No kind of destination is enabled">
            Your operator decides which kinds there are.
          </Empty>
        ) : (
          <Form types={types} onMade={onMade} />
        )
      }
    </Loaded>
  )
}

function Form({ types, onMade }: { types: readonly OutgoingType[]; onMade: (instruction: Instruction) => void }) {
  const [type, setType] = useState(types[0]!)
  const [currency, setCurrency] = useState(type.currencies[0] ?? '')
  const [label, setLabel] = useState('')
  const [fields, setFields] = useState<Record<string, string>>({})
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set()) // fields that were left once show their mistakes
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const once = useRef(onceKey())
  const toast = useToast()

  const valueFor = (key: string) => (fields[key] ?? '').trim()
  const given = Object.fromEntries(
    type.required_fields.flatMap(({ key }) => (valueFor(key) === '' ? [] : [[key, valueFor(key)]])),
  )
  const body = { type: type.type, currency, ...(label.trim() ? { label: label.trim() } : {}), fields: given }
  const choose = (name: string) => {
    const next = types.find((each) => each.type === name)!
    setType(next)
    setCurrency(next.currencies[0] ?? '')
    setLeft(new Set())
    setError(undefined)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    event.stopPropagation()
    setLeft(new Set(type.required_fields.map(({ key }) => key)))
    if (busy || type.required_fields.some((field) => mistakeIn(field, valueFor(field.key)) !== undefined)) return
    setBusy(true)
    setError(undefined)
    try {
      const made = await send<Instruction>('POST', '/partner/outgoing-instructions', body, once.current)
      refresh('/partner/outgoing-instructions')
      toast.say('Destination created.')
      onMade(made)
    } catch (failure) {
      const refusal = toApiError(failure)
      once.current = nextKey(once.current, refusal)
      setError(refusal)
      setBusy(false)
    }
  }

  return (
    <form className="form" onSubmit={submit} noValidate>
      <div className="form-row">
        <SelectField
          label="Type"
          value={type.type}
          onText={choose}
          options={types.map((each) => ({ value: each.type, label: typeName(each.type) }))}
        />
        <SelectField
          label="Currency"
          value={currency}
          onText={setCurrency}
          options={type.currencies.map((value) => ({ value, label: value }))}
        />
      </div>
      {type.required_fields.map((field) => (
        <TextField
          key={`${type.type} ${field.key}`}
          label={fieldName(field.key)}
          {...(field.optional ? { optional: true } : {})}
          hint={ruleWords(field)}
          value={fields[field.key] ?? ''}
          onText={(text) => {
            setFields({ ...fields, [field.key]: text })
            setError(undefined)
          }}
          onBlur={() => setLeft(new Set(left).add(field.key))}
          error={
            (left.has(field.key) ? mistakeIn(field, valueFor(field.key)) : undefined) ??
            (error?.message.startsWith(`fields.${field.key} `) ? error.message : undefined)
          }
        />
      ))}
      <TextField label="Label" optional maxLength={200} hint="A note of your own" value={label} onText={setLabel} />
      {error && <ErrorNotice error={error} />}
      <div className="form-foot">
        <Button look="primary" type="submit" busy={busy}>
          Create destination
        </Button>
        <CurlButton call={{ method: 'POST', path: '/partner/outgoing-instructions', body }} />
      </div>
    </form>
  )
}
