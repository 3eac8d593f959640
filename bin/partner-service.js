#!/usr/bin/env node
// The installed package runs its build; a checkout runs its sources.
import { existsSync } from 'node:fs'

const built = new URL('../dist/main.js', import.meta.url)
await import(existsSync(built) ? built : new URL('../src/main.ts', import.meta.url))
