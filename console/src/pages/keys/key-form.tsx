// A new API key: its name, what it may do, from where and until when. Never more than whoever makes it may do.
import { useRef, useState } from 'react'
import { onceKey, send } from '../../api/http.ts'
import { type ApiKey, type Scope, scopeMeanings, scopes } from '../../api/types.ts'
import { Ask } from '../../ui/dialog.tsx'
import { AreaField, Choices, SelectField, TextField } from '../../ui/fields.tsx'

const algorithms = ['ES256', 'EdDSA', 'RS256', 'RS512']

export function KeyForm({
  path,
  allowed,
  like,
  onClose,
  onCreated,
}: {
  path: string
  allowed: readonly Scope[]
  like?: ApiKey | undefined // the key that this one is to replace
  onClose: () => void
  onCreated: (key: ApiKey) => void
}) {
  const [name, setName] = useState(like?.name ?? '')
  const [chosen, setChosen] = useState<string[]>(like?.scopes.filter((scope) => allowed.includes(scope)) ?? [])
  const [cidrs, setCidrs] = useState(like?.allowed_cidrs.join(', ') ?? '')
  const [days, setDays] = useState('')
  const [kind, setKind] = useState<string>(like?.kind === 'signed_token' ? (like.algorithm ?? 'ES256') : 'secret')
  const [publicKey, setPublicKey] = useState('')
  const once = useRef(onceKey())
  const made = useRef<ApiKey>(undefined)
  const addresses = cidrs.split(/[\s,]+/).filter(Boolean)
  const body = {
    name: name.trim(),
    scopes: chosen,
    ...(addresses.length > 0 ? { allowed_cidrs: addresses } : {}),
    ...(days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
    ...(kind === 'secret' ? {} : { algorithm: kind, public_key: publicKey.trim() }),
  }
  const act = async () => {
    try {
      made.current = await send<ApiKey>('POST', path, body, once.current)
    } catch (error) {
      once.current = onceKey()
      throw error
    }
  }
  return (
    <Ask
      title={like ? `Rotate ${like.name}` : 'New API key'}
      verb={like ? 'Create the new key' : 'Create'}
      act={act}
      onDone={() => made.current && setTimeout(onCreated, 0, made.current)}
      onClose={onClose}
      disabled={body.name === '' || chosen.length === 0}
    >
      {like && (
        <p className="about">Both keys work until you revoke the old one: create, move your callers over, revoke.</p>
      )}
      <TextField label="Name" hint="What it is for" maxLength={100} value={name} onText={setName} />
      <Choices
        legend="May do"
        chosen={chosen}
        onChange={setChosen}
        options={scopes.map((value) => ({
          value,
          label: value,
          hint: allowed.includes(value) ? scopeMeanings[value] : 'Your own key lacks this scope',
          disabled: !allowed.includes(value),
        }))}
      />
      <div className="form-row">
        <SelectField
          label="Expires"
          value={days}
          onText={setDays}
          options={[
            { value: '', label: 'Never' },
            { value: '1', label: 'In a day' },
            { value: '30', label: 'In 30 days' },
            { value: '90', label: 'In 90 days' },
            { value: '365', label: 'In a year' },
          ]}
        />
        <SelectField
          label="Credential"
          value={kind}
          onText={setKind}
          options={[
            { value: 'secret', label: 'A secret' },
            ...algorithms.map((value) => ({ value, label: `Tokens you sign, ${value}` })),
          ]}
        />
      </div>
      {kind !== 'secret' && (
        <AreaField
          label="Public key"
          mono
          rows={4}
          hint="SPKI in PEM"
          placeholder="-----BEGIN PUBLIC KEY-----"
          value={publicKey}
          onText={setPublicKey}
        />
      )}
      <TextField
        label="Only from"
        optional
        hint="Addresses or networks, such as 192.0.2.0/24"
        value={cidrs}
        onText={setCidrs}
      />
    </Ask>
  )
}
