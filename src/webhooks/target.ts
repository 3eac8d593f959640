// The address guard: webhooks go to public addresses only, unless the operator allows a network by name. It acts on the URL
// when a subscription is written, on every address a name resolves to, and on the address that was dialled.
import { BlockList, isIP } from 'node:net'
import { addCidr, listContains } from '../addresses.ts'
import type { Config } from '../config.ts'
import { fail } from '../errors.ts'

// What is not the public internet (IANA's special-purpose registries), NAT64, 6to4 and Teredo included, because they lead to
// IPv4 addresses of any kind. (Not ::ffff:0:0/96: to Node's BlockList that is every IPv4 address, and it looks through the mapping
// by itself.)
const nonPublic = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

export interface TargetGuard {
  allowsAddress(address: string): boolean
  checkUrl(url: string, place: string): void // throws invalid_parameters, naming the place
}

export function createTargetGuard(config: Config): TargetGuard {
  const refused = new BlockList()
  for (const cidr of nonPublic) addCidr(refused, cidr)
  const allowed = new BlockList()
  for (const cidr of config.webhookAllowedNetworks) addCidr(allowed, cidr)
  if (config.mode === 'sandbox') for (const cidr of ['127.0.0.0/8', '::1']) addCidr(allowed, cidr)

  const allowsAddress = (address: string) =>
    isIP(address) !== 0 && !address.includes('%') && (listContains(allowed, address) || !listContains(refused, address))

  return {
    allowsAddress,
    checkUrl(url, place) {
      const refuse = (why: string) => fail('invalid_parameters', `${place} ${why}.`)
      if (!URL.canParse(url)) throw refuse('is not a valid URL')
      const parsed = new URL(url)
      if (parsed.protocol !== 'https:') throw refuse('must be an https URL')
      if (parsed.username !== '' || parsed.password !== '') throw refuse('must not contain credentials')
      if (url.includes('#')) throw refuse('must not contain a fragment')
      const host = parsed.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !allowsAddress(host)) throw refuse('names an address that is not public')
      if (config.mode === 'production' && /(^|\.)(localhost|local|internal)\.?$/i.test(host))
        throw refuse('names a host that is not public')
    },
  }
}
