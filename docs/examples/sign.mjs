// Signs a token for one call, with your own private key (RSA, P-256 or Ed25519, PEM):
//   node sign.mjs KEY_ID PRIVATE_KEY_FILE METHOD PATH [BODY]
import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'

const [keyId, file, method, path, body = ''] = process.argv.slice(2)
const key = createPrivateKey(readFileSync(file))
const algorithm = { rsa: 'RS256', ec: 'ES256', ed25519: 'EdDSA' }[key.asymmetricKeyType]
const now = Math.floor(Date.now() / 1000)
const claims = {
  iss: keyId, // the id of the API key that holds your public key
  iat: now, // at most 15 minutes old
  exp: now + 60, // optional from here on: refused after this moment,
  jti: randomUUID(), // … when used a second time,
  htm: method, // … for another method,
  htu: path, // … for another path,
  bodyHash: createHash('sha256').update(body).digest('hex'), // … with another body
}
const encode = (part) => Buffer.from(JSON.stringify(part)).toString('base64url')
const signed = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`
const hash = algorithm === 'EdDSA' ? null : 'sha256'
const signature = sign(hash, Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
console.log(`${signed}.${signature.toString('base64url')}`)
