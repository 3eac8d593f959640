// How the text of a setting becomes a value. What is wrong is thrown as a Mistake: the rest of a sentence that starts with the
// setting's name, and never repeats a secret.
import { BlockList } from 'node:net'
import { addCidr } from './addresses.ts'
import { parseDurationMs } from './times.ts'

export class Mistake extends Error {}

export interface MasterKey {
  readonly version: number
  readonly bytes: Buffer
}

export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

export function oneOf<const T extends string>(...allowed: T[]) {
  return (given: string): T => {
    if (!allowed.includes(given as T)) throw new Mistake(`must be one of ${allowed.filter(Boolean).join(', ')}`)
    return given as T
  }
}

export function text(given: string): string {
  return given
}

export function optionalText(given: string): string | undefined {
  return given === '' ? undefined : given
}

export function durationMs(given: string): number {
  const ms = parseDurationMs(given)
  if (ms === undefined) throw new Mistake('must be a duration with units, such as 30s, 15m or 60d')
  return ms
}

export function duration(least: string, most: string) {
  return (given: string): number => {
    const ms = durationMs(given)
    if (ms < durationMs(least) || ms > durationMs(most)) throw new Mistake(`must be from ${least} to ${most}`)
    return ms
  }
}

export function durations(given: string): number[] {
  const pauses = list(given).map(durationMs)
  if (pauses.length === 0 || pauses.length > 50) throw new Mistake('must have 1 to 50 durations, such as 5s,30s,2m')
  return pauses
}

export function optionalMasterKey(given: string): MasterKey[] | undefined {
  if (given === '') return undefined
  const keys = list(given).map((each) => {
    const [, version, encoded] = /^(\d{1,6}):([A-Za-z0-9+/_-]+=*)$/.exec(each) ?? []
    const bytes = Buffer.from(encoded ?? '', 'base64')
    if (!version || bytes.length !== 32) throw new Mistake('must look like 1:KEY, the key being 32 bytes in base64')
    return { version: Number(version), bytes }
  })
  if (new Set(keys.map((key) => key.version)).size < keys.length) throw new Mistake('names a version twice')
  return keys
}

export function list(given: string): string[] {
  return given.split(',').flatMap((each) => each.trim() || [])
}

export function wholeNumber(least: number, most: number) {
  return (given: string): number => {
    if (!/^\d{1,9}$/.test(given) || Number(given) < least || Number(given) > most) {
      throw new Mistake(`must be a whole number from ${least} to ${most}`)
    }
    return Number(given)
  }
}

export function port(given: string): number {
  return wholeNumber(0, 65_535)(given)
}

export function optionalUrl(given: string): string | undefined {
  if (given === '') return undefined
  if (!URL.canParse(given) || !/^https?:$/.test(new URL(given).protocol))
    throw new Mistake('must be an http or https URL')
  return given.replace(/\/+$/, '')
}

export function optionalPostgresUrl(given: string): string | undefined {
  if (given === '') return undefined
  if (!URL.canParse(given) || !/^postgres(ql)?:$/.test(new URL(given).protocol)) {
    throw new Mistake('must look like postgres://user:password@host:5432/database')
  }
  return given
}

export function optionalSecret(leastLength: number) {
  return (given: string): string | undefined => {
    if (given === '') return undefined
    if (given.length < leastLength)
      throw new Mistake(`must have at least ${leastLength} characters; make one with: openssl rand -hex 32`)
    return given
  }
}

export function cidrList(given: string): string[] {
  const cidrs = list(given)
  for (const cidr of cidrs) {
    if (!addCidr(new BlockList(), cidr))
      throw new Mistake(`has ${JSON.stringify(cidr)}, which is not an address or CIDR`)
  }
  return cidrs
}

export function rateLimit(given: string): RateLimit | undefined {
  if (given === 'off') return undefined
  const [, perSecond, burst] = /^(\d{1,6}):(\d{1,7})$/.exec(given) ?? []
  if (!Number(perSecond) || !Number(burst)) throw new Mistake('must look like 100:500 (a second, burst) or be off')
  return { perSecond: Number(perSecond), burst: Number(burst) }
}
