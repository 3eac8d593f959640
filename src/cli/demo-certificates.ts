// A certificate authority and a certificate for this machine's loopback, made on the spot: the demo's endpoint speaks real TLS and
// nothing has to be installed. Node reads certificates but cannot write them, so the few structures of X.509 (RFC 5280) that
// this takes are written here.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Certificates {
  readonly authority: string // PEM, to be trusted
  readonly certificate: string // PEM, for localhost, 127.0.0.1 and ::1
  readonly key: string // PEM, the private key of the certificate
}

const validForMs = 86_400_000

export function makeCertificates(now = new Date()): Certificates {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = 'Partner Service demo authority'
  const issue = (subject: string, publicKey: KeyObject, extensions: Buffer[]) =>
    pem(certificate({ issuer, subject, publicKey, extensions, now }, authority.privateKey))
  return {
    authority: issue(issuer, authority.publicKey, [isAuthority, mayOnlyIssue, keyIdentifier(authority.publicKey)]),
    certificate: issue('localhost', own.publicKey, [forLoopback, issuedBy(authority.publicKey)]),
    key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

interface Content {
  readonly issuer: string
  readonly subject: string
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
  readonly now: Date
}

function certificate({ issuer, subject, publicKey, extensions, now }: Content, signingKey: KeyObject): Buffer {
  const signed = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(randomSerial()),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(time(now.getTime() - validForMs), time(now.getTime() + validForMs)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensions)),
  )
  return sequence(signed, ecdsaWithSha256, bitString(sign('sha256', signed, signingKey)))
}

// DER: a tag, a length, and what belongs to it.
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content])
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes)
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes) // no bits unused in the last byte
}

function explicit(number: number, content: Buffer): Buffer {
  return der(0xa0 + number, content)
}

// An object identifier, as the bytes that its numbers take.
function identifier(...bytes: number[]): Buffer {
  return der(0x06, Buffer.from(bytes))
}

function commonName(name: string): Buffer {
  const attribute = sequence(identifier(0x55, 4, 3), der(0x0c, Buffer.from(name)))
  return sequence(der(0x31, attribute))
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|\D/g, '')
  return der(0x17, Buffer.from(`${digits.slice(2)}Z`)) // UTCTime, 260105120000Z, good until 2049
}

// Positive and not shortened by a leading zero: between 0x40 and 0x7f at the front.
function randomSerial(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = 0x40 | (bytes[0]! & 0x3f)
  return bytes
}

function extension(number: number, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(0x01, Buffer.from([0xff]))] : []
  return sequence(identifier(0x55, 29, number), ...flag, der(0x04, value))
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return extension(14, false, der(0x04, hashOf(publicKey)))
}

function issuedBy(publicKey: KeyObject): Buffer {
  return extension(35, false, sequence(der(0x80, hashOf(publicKey))))
}

function hashOf(publicKey: KeyObject): Buffer {
  const bytes = publicKey.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(bytes).digest().subarray(0, 20)
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

const ecdsaWithSha256 = sequence(identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2)) // 1.2.840.10045.4.3.2
const isAuthority = extension(19, true, sequence(der(0x01, Buffer.from([0xff])))) // basicConstraints: CA
const mayOnlyIssue = extension(15, true, der(0x03, Buffer.from([2, 0x04]))) // keyUsage: keyCertSign
const forLoopback = extension(
  17, // subjectAltName
  false,
  sequence(
    der(0x82, Buffer.from('localhost')),
    der(0x87, Buffer.from([127, 0, 0, 1])),
    der(0x87, Buffer.from([...Array(15).fill(0), 1])),
  ),
)
