// SIGTERM: what has begun is finished, nothing else is waited for, exit code 0. And what a start prints.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { createDatabase, databaseKind } from '../support/database.ts'
import { freePort } from '../support/postgres.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'
import { run, until } from './run.ts'

async function startOne(t: { after(work: () => Promise<void>): void }) {
  const database = await createDatabase()
  const service = await spawnService(database)
  t.after(async () => {
    await service.kill()
    await database.remove()
  })
  return { database, service }
}

async function openSocket(url: string, firstBytes: string): Promise<Socket> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}) // being cut off is what these are for
  await once(socket, 'connect')
  if (firstBytes) socket.write(firstBytes)
  return socket
}

// Unlike events.once, this does not mind a reset on the way.
const untilClosed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

function isRefused(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
  }).finally(() => socket.destroy()) as Promise<boolean>
}

// A configuration write that has begun for certain: the service has said "100 Continue" and waits for the body.
async function beginWrite(service: ServiceProcess, path: string, token: string): Promise<ClientRequest> {
  const write = request(`${service.operatorUrl}/operator/v1${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' },
  })
  write.flushHeaders()
  await once(write, 'continue')
  return write
}

test('on SIGTERM every request that has begun is answered, all other connections are closed or refused, the exit code is 0', async (t) => {
  const { database, service } = await startOne(t)
  const token = readFileSync(join(database.dataDir, 'operator-token'), 'utf8').trim()
  const { body: partner } = await service.operator.post('/partners', { name: 'Stopping' })
  const path = `/partners/${partner.id}/configuration`
  const { body: configuration } = await service.operator.get(path)
  const writes = await Promise.all(Array.from({ length: 20 }, () => beginWrite(service, path, token)))

  const idle = await openSocket(service.url, 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(idle, 'data') // answered, and kept alive
  const unused = await openSocket(service.url, '')
  const halfHead = await openSocket(service.operatorUrl, 'GET /livez HTTP/1.1\r\nHost: local')
  const closed = Promise.all([idle, unused, halfHead].map(untilClosed))

  const stopped = service.stop()
  await closed // before those that have begun are done
  await until(
    'new connections are refused',
    async () => (await isRefused(service.operatorUrl)) && isRefused(service.url),
  )
  const versions = await Promise.all(
    writes.map(async (write) => {
      write.end(JSON.stringify(configuration))
      const [reply] = (await once(write, 'response')) as [IncomingMessage]
      assert.equal(reply.statusCode, 200)
      assert.equal(reply.headers.connection, 'close')
      reply.resume()
      await once(reply, 'end')
      return Number(JSON.parse(reply.headers.etag!))
    }),
  )
  assert.equal(await stopped, 0)
  assert.match(service.log(), /"msg":"stopped"/)

  const again = await spawnService(database)
  t.after(() => again.kill())
  const { body: now } = await again.operator.get(`/partners/${partner.id}`)
  assert.deepEqual(
    versions.sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i + 2),
  )
  assert.equal(now.configuration_version, 21)
})

if (databaseKind === 'embedded') {
  test('a request that never comes whole holds up a stop for a while, not for ever', async (t) => {
    const { service } = await startOne(t)
    const half = await openSocket(
      service.url,
      `POST /v1/partner/keys HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${service.demoSecret}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`,
    )
    await once(half, 'data')
    const closed = untilClosed(half)
    assert.equal(await service.stop(), 0)
    await closed
  })
}

test('a second start prints the same demo key and curl lines that hold it', async (t) => {
  const { database, service } = await startOne(t)
  assert.equal(await service.stop(), 0)
  const again = await spawnService(database)
  t.after(() => again.kill())
  assert.equal(again.demoSecret, service.demoSecret)
  for (const { output, url } of [service, again]) {
    assert.ok(output().includes(`curl ${url}/v1/partner -H 'Authorization: Bearer ${service.demoSecret}'`), output())
  }
  assert.equal((await again.partner.get('/partner')).status, 200)
  assert.equal(statSync(join(database.dataDir, 'demo-key')).mode & 0o777, 0o600)
  assert.equal(statSync(join(database.dataDir, 'operator-token')).mode & 0o777, 0o600)
})

test('the demo key is on standard output before the service is ready, also when logs are silent', async (t) => {
  const database = await createDatabase()
  t.after(() => database.remove())
  const port = await freePort()
  const outputFile = join(database.dataDir, 'output') // a file is written at once, a pipe could be read late
  const output = openSync(outputFile, 'w')
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
    env: { ...database.environment, PORT: String(port), OPERATOR_PORT: '0', HOST: '127.0.0.1', LOG_LEVEL: 'silent' },
    stdio: ['ignore', output, 'pipe'],
  })
  closeSync(output)
  let log = ''
  child.stderr!.on('data', (chunk: Buffer) => (log += chunk))
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const printed = await until('it is ready', async () => {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (reply) => reply.status === 200,
      () => false,
    )
    return ready && readFileSync(outputFile, 'utf8')
  })
  assert.ok(printed.includes(readFileSync(join(database.dataDir, 'demo-key'), 'utf8').trim()))
  child.kill('SIGTERM')
  await exited
  assert.equal(child.exitCode, 0)
  assert.equal(log, '')
})

test('a start on a port in use fails with a message that names it', async (t) => {
  const { service } = await startOne(t)
  const database = await createDatabase()
  t.after(() => database.remove())
  const { ended, log } = run(database, ['serve'], { PORT: new URL(service.url).port, LOG_LEVEL: 'silent' })
  assert.equal(await ended, 1)
  assert.match(log(), new RegExp(`Port ${new URL(service.url).port} is in use.+PORT`))
})
