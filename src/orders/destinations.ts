// What can be known about a bank destination without asking the bank: the check digits of CBU, CVU and CLABE, the form of an
// alias, the check digit of a CUIT. Which of them a field is, its key tells: `cbu`, `destination_clabe`, `holder_cuit`.

interface Kind {
  readonly is: (value: string) => boolean
  readonly must: string
}

const cbu: Kind = { is: isCbu, must: 'must be a CBU or CVU: 22 digits with the right check digits' }
const cuit: Kind = { is: isCuit, must: 'must be a CUIT: 11 digits with the right check digit' }
const kinds: Readonly<Record<string, Kind>> = {
  cbu,
  cvu: cbu,
  clabe: { is: isClabe, must: 'must be a CLABE: 18 digits with the right check digit' },
  alias: { is: isAlias, must: "must be an alias: 6 to 20 letters, digits, '.' or '-'" },
  cuit,
  cuil: cuit,
}

// Undefined when the key does not name a kind that is known.
export function destinationKind(key: string): Kind | undefined {
  const word = key
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .find((each) => Object.hasOwn(kinds, each))
  return word === undefined ? undefined : kinds[word]
}

// An alias means the same in capitals; everything else is what it is.
export function normalised(key: string, value: string): string {
  return destinationKind(key) === kinds.alias ? value.toLowerCase() : value
}

export function isCbu(value: string): boolean {
  return (
    /^[0-9]{22}$/.test(value) &&
    checkDigit(value.slice(0, 7), '7139713') === value[7] &&
    checkDigit(value.slice(8, 21), '3971397139713') === value[21]
  )
}

export function isClabe(value: string): boolean {
  return /^[0-9]{18}$/.test(value) && checkDigit(value.slice(0, 17), '37137137137137137') === value[17]
}

export function isAlias(value: string): boolean {
  return /^[A-Za-z0-9.-]{6,20}$/.test(value)
}

export function isCuit(value: string): boolean {
  if (!/^[0-9]{11}$/.test(value)) return false
  const check = 11 - (weigh(value.slice(0, 10), '5432765432') % 11)
  return (check === 11 ? 0 : check === 10 ? 9 : check) === Number(value[10])
}

// CLABE takes each product modulo 10 first, which leaves the sum the same modulo 10.
function checkDigit(digits: string, weights: string): string {
  return String((10 - (weigh(digits, weights) % 10)) % 10)
}

function weigh(digits: string, weights: string): number {
  return [...digits].reduce((sum, digit, i) => sum + Number(digit) * Number(weights[i]), 0)
}
