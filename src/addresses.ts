// IP addresses and CIDRs, on top of Node's own BlockList.
import { BlockList, isIP } from 'node:net'

// Adds `10.0.0.0/8`, `::1/128` or a single address; false when the text is neither.
export function addCidr(blockList: BlockList, cidr: string): boolean {
  const parsed = parseCidr(cidr)
  if (!parsed) return false
  blockList.addSubnet(parsed.address, parsed.bits, parsed.family)
  return true
}

export function cidrsContain(cidrs: readonly string[], address: string): boolean {
  const blockList = new BlockList()
  for (const cidr of cidrs) addCidr(blockList, cidr)
  return listContains(blockList, address)
}

export function listContains(blockList: BlockList, address: string): boolean {
  const plain = withoutMapping(address)
  const family = isIP(plain)
  return family !== 0 && blockList.check(plain, family === 4 ? 'ipv4' : 'ipv6')
}

// Whether every address of `inner` is also in one of `outer`.
export function cidrWithin(inner: string, outer: readonly string[]): boolean {
  const parsed = parseCidr(inner)
  if (!parsed) return false
  return outer.some((each) => {
    const network = parseCidr(each)
    // Of one family only: ::ffff:10.0.0.0/20 begins inside 10.0.0.0/8 and still covers every IPv4 address there is.
    if (network?.family !== parsed.family) return false
    return network.bits <= parsed.bits && cidrsContain([each], parsed.address)
  })
}

function parseCidr(cidr: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | undefined {
  const [, address = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr) ?? []
  const version = isIP(address)
  if (version === 0 || address.includes('%')) return undefined
  const most = version === 4 ? 32 : 128
  const bits = bitsText === undefined ? most : Number(bitsText)
  return bits <= most ? { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined
}

// A dual-stack socket shows IPv4 peers as ::ffff:192.0.2.1.
function withoutMapping(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address
}
