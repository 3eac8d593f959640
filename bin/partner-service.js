#!/usr/bin/env node
// A checkout runs its sources, so that a build left behind is never run by mistake; the installed package has only its build.
import { existsSync } from 'node:fs'

const source = new URL('../src/main.ts', import.meta.url)
await import(existsSync(source) ? source : new URL('../dist/main.js', import.meta.url))
