// Private keys at rest: AES-256-GCM under the master key, bound to the key's id, so that one row cannot stand in for another.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { MasterKey } from '../config-parsers.ts'

export function seal(masterKey: MasterKey, id: string, secret: Buffer): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', masterKey.bytes, nonce).setAAD(Buffer.from(id))
  const sealed = Buffer.concat([cipher.update(secret), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

export function unseal(masterKeys: readonly MasterKey[], version: number, id: string, sealed: Uint8Array): Buffer {
  const masterKey = masterKeys.find((each) => each.version === version)
  if (!masterKey)
    throw new Error(
      `MASTER_KEY has no version ${version}, which signing key ${id} is encrypted with. Add it behind the current one.`,
    )
  const bytes = Buffer.from(sealed)
  const decipher = createDecipheriv('aes-256-gcm', masterKey.bytes, bytes.subarray(0, 12)).setAAD(Buffer.from(id))
  decipher.setAuthTag(bytes.subarray(12, 28))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
  } catch {
    throw new Error(
      `MASTER_KEY version ${version} does not open signing key ${id}: it is not the key that encrypted it.`,
    )
  }
}
