// The browser that the console is tested in: a Chromium of the machine. A bare Debian gets one with apt-get, which takes root.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/opt/google/chrome/chrome']

function findChromium(): string | undefined {
  return [process.env.CHROMIUM_PATH, ...places].find((path) => {
    try {
      if (path === undefined) return false
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

export function chromiumPath(): string {
  const path = findChromium()
  if (path === undefined)
    throw new Error('no Chromium was found: install one (apt-get install chromium), or set CHROMIUM_PATH')
  return path
}

// Once, before the tests that need it.
export function provideChromium(): void {
  if (findChromium()) return
  process.stdout.write('installing chromium, which the tests of the console run in\n')
  spawnSync('sh', ['-c', 'apt-get update && apt-get install -y --no-install-recommends chromium'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  chromiumPath()
}
