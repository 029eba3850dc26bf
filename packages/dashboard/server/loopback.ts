import { isIP } from 'node:net'

/** Whether a name or address is this machine's own and can't be reached from another. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  if (name === 'localhost') return true
  if (isIP(name) === 4) return name.startsWith('127.')
  return name === '::1' || name === '0:0:0:0:0:0:0:1'
}
