// Form fields: a label that belongs to its control, a hint, and an error that is read out with it.
import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react'
import { IconButton } from './button.tsx'

interface FieldProps {
  label: string
  hint?: ReactNode
  error?: string | undefined
  optional?: boolean | undefined
  hideLabel?: boolean | undefined
}

function Frame({
  id,
  label,
  hint,
  error,
  optional,
  hideLabel,
  children,
}: FieldProps & { id: string; children: ReactNode }) {
  return (
    <div className={`field ${error ? 'wrong' : ''}`}>
      <label htmlFor={id} className={hideLabel ? 'hidden' : ''}>
        {label}
        {optional && <span className="faint"> optional</span>}
      </label>
      {children}
      {hint && !error && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error && (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}

// What the frame shows, apart from what the control itself takes.
function apart<Props extends FieldProps>({ label, hint, error, optional, hideLabel, ...rest }: Props) {
  return { field: { label, hint, error, optional, hideLabel }, rest }
}

function described(id: string, { hint, error }: FieldProps) {
  if (error) return { 'aria-describedby': `${id}-error`, 'aria-invalid': true as const }
  return hint ? { 'aria-describedby': `${id}-hint` } : {}
}

export function TextField({
  onText,
  mono,
  className,
  ...props
}: FieldProps & { onText: (text: string) => void; mono?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  const { field, rest } = apart(props)
  return (
    <Frame id={id} {...field}>
      <input
        id={id}
        className={`input ${mono ? 'mono' : ''} ${className ?? ''}`}
        autoComplete="off"
        spellCheck={false}
        {...described(id, field)}
        {...rest}
        onChange={(event) => onText(event.target.value)}
      />
    </Frame>
  )
}

export function SecretField(props: Omit<Parameters<typeof TextField>[0], 'type'>) {
  const [shown, setShown] = useState(false)
  return (
    <div className="secret-field">
      <TextField {...props} mono type={shown ? 'text' : 'password'} autoComplete="current-password" />
      <IconButton
        icon={shown ? 'cross' : 'eye'}
        label={shown ? 'Hide what you typed' : 'Show what you typed'}
        onClick={() => setShown(!shown)}
      />
    </div>
  )
}

export function AreaField({
  onText,
  mono,
  ...props
}: FieldProps & { onText: (text: string) => void; mono?: boolean } & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  const { field, rest } = apart(props)
  return (
    <Frame id={id} {...field}>
      <textarea
        id={id}
        className={`input area ${mono ? 'mono' : ''}`}
        spellCheck={false}
        {...described(id, field)}
        {...rest}
        onChange={(event) => onText(event.target.value)}
      />
    </Frame>
  )
}

export function SelectField({
  onText,
  options,
  ...props
}: FieldProps & {
  onText: (text: string) => void
  options: readonly { value: string; label: string }[]
} & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  const { field, rest } = apart(props)
  return (
    <Frame id={id} {...field}>
      <select
        id={id}
        className="input select"
        {...described(id, field)}
        {...rest}
        onChange={(event) => onText(event.target.value)}
      >
        {options.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  )
}

export function Choices({
  legend,
  options,
  chosen,
  onChange,
  error,
}: {
  legend: string
  options: readonly { value: string; label: ReactNode; hint?: ReactNode; disabled?: boolean }[]
  chosen: readonly string[]
  onChange: (chosen: string[]) => void
  error?: string | undefined
}) {
  const toggle = (value: string) =>
    onChange(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {options.map(({ value, label, hint, disabled }) => (
        <label key={value} className={`choice ${disabled ? 'off' : ''}`}>
          <input type="checkbox" checked={chosen.includes(value)} disabled={disabled} onChange={() => toggle(value)} />
          <span>
            <span className="choice-label">{label}</span>
            {hint && <span className="choice-hint">{hint}</span>}
          </span>
        </label>
      ))}
      {error && <p className="field-error">{error}</p>}
    </fieldset>
  )
}

// A few exclusive choices side by side.
export function Segments<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string
  options: readonly { value: T; label: string }[]
  value: T
  onChange: (value: T) => void
}) {
  return (
    <fieldset className="segments">
      <legend className="hidden">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}
