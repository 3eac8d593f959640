// How destinations are put into words.
import type { Instruction } from '../../api/types.ts'

const typeWords: Record<string, string> = {
  ar_cbu: 'Argentine bank account (CBU)',
  ar_alias: 'Argentine alias',
  ar_cvu: 'Argentine virtual account (CVU)',
  mx_clabe: 'Mexican bank account (CLABE)',
}

export function typeName(type: string): string {
  return typeWords[type] ?? type
}

const shortNames: Record<string, string> = { cbu: 'CBU', cvu: 'CVU', clabe: 'CLABE', cuit: 'CUIT', cuil: 'CUIL' }

export function fieldName(key: string): string {
  const words = key
    .split('_')
    .map((word) => shortNames[word] ?? word)
    .join(' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

// What tells one destination from another: its label, or its first field.
export function destinationName({ label, fields, id }: Instruction): string {
  return label || Object.values(fields)[0] || id
}

export function Destination({ instruction }: { instruction: Instruction }) {
  return (
    <span className="destination">
      <strong>{destinationName(instruction)}</strong>
      <span className="sub">{typeName(instruction.type)}</span>
      {Object.entries(instruction.fields).map(([key, value]) => (
        <span key={key} className="sub">
          {fieldName(key)} <code>{value}</code>
        </span>
      ))}
    </span>
  )
}
