// Certificates for TLS endpoints on loopback: an authority of our own, and good, expired or misnamed certificates under it.
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as x509 from '@peculiar/x509'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const day = 86_400_000
x509.cryptoProvider.set(webcrypto as never)

export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface Authority {
  readonly file: string // PEM, for WEBHOOK_CA_FILE
  readonly pem: string
  issue(names: readonly string[], validUntil?: Date): Promise<Certificate>
}

export async function createAuthority(): Promise<Authority> {
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=Partner Service test authority',
    keys: keys as never,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 10 * day),
    notAfter: new Date(Date.now() + 10 * day),
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  })
  const pem = root.toString('pem')
  const file = join(mkdtempSync(join(tmpdir(), 'partner-service-ca-')), 'ca.pem')
  writeFileSync(file, pem)
  let serial = 1
  return {
    file,
    pem,
    async issue(names, validUntil = new Date(Date.now() + day)) {
      const own = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: String(++serial).padStart(4, '0'),
        subject: `CN=${names[0]}`,
        issuer: root.subject,
        publicKey: own.publicKey as never,
        signingKey: keys.privateKey as never,
        signingAlgorithm: algorithm,
        notBefore: new Date(Date.now() - 9 * day),
        notAfter: validUntil,
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: /^[\d.:]+$/.test(value) ? ('ip' as const) : ('dns' as const), value })),
          ),
        ],
      })
      const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', own.privateKey)).toString('base64')
      return {
        cert: certificate.toString('pem'),
        key: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
      }
    },
  }
}
