/** What the page Health says in Russian; loaded when it is looked at. */
export { ruChecks } from './ru-checks.js'
export { ruFindings } from './ru-findings.js'
