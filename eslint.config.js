import { defineConfig } from 'eslint/config'
import tseslint from 'typescript-eslint'

/**
 * Biome formats and lints. Here is only what Biome doesn't see: promises that nobody awaits, and who may import whom.
 */
const promises = {
  '@typescript-eslint/no-floating-promises': [
    'error',
    // What node:test gives back is awaited by its runner.
    { allowForKnownSafeCalls: [{ from: 'package', name: ['describe', 'it'], package: 'node:test' }] },
  ],
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
}

const PG = { regex: '^pg$', message: 'Only the connection folder knows pg.' }
const PG_LISTEN = { regex: '^pg-listen$', message: 'Only the listener folder knows pg-listen.' }
const OPENTELEMETRY = { regex: '^@opentelemetry/', message: 'Only the telemetry folder knows OpenTelemetry.' }
const ENTRIES = 'package\\.json|drizzle|metrics|opentelemetry|postgres-js|testing'
const DEEP = { regex: `^@pg-tasks/[^/]+/(?!(${ENTRIES})$)`, message: 'Import another package by its public entry.' }
const OTHER_PACKAGE = { regex: '^(\\.\\./)+packages/', message: 'Import another package by its name.' }
const TEST_SUPPORT = { regex: '(^|/)test/', message: 'Production code never imports test support.' }
const EVERY_PACKAGE = [DEEP, OTHER_PACKAGE, TEST_SUPPORT]

/** Which packages a package may not know: data flows migrations → sql → client → cli, dashboard. */
const LATER_PACKAGES = {
  sql: ['client', 'cli', 'dashboard', 'embedded', 'bench'],
  client: ['cli', 'dashboard', 'embedded', 'bench'],
  embedded: ['sql', 'client', 'cli', 'dashboard', 'bench'],
  cli: ['bench'],
  dashboard: ['cli', 'embedded', 'bench'],
}

/** The layers inside client, from the bottom up: a folder (or file) imports from its own row and the rows above it. */
const CLIENT_LAYERS = [
  ['errors', 'logger', 'events', 'options', 'timers', 'service'],
  ['backoff', 'connection'],
  ['listener', 'lease'],
  ['task'],
  ['middleware'],
  ['worker', 'schedule', 'maintenance'],
  ['adapters', 'telemetry', 'testing'],
]

function laterPackages(name) {
  const later = LATER_PACKAGES[name] ?? []
  return { regex: `^@pg-tasks/(${later.join('|')})$`, message: `packages/${name} doesn't know this package.` }
}

/** The packages with one owner each; every other file of client gets all bans. */
function foreignPackages(layer) {
  return [
    ...(layer === 'connection' ? [] : [PG]),
    ...(layer === 'listener' ? [] : [PG_LISTEN]),
    ...(layer === 'telemetry' ? [] : [OPENTELEMETRY]),
  ]
}

function restrict(files, patterns) {
  return {
    files,
    ignores: ['**/*.test.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns }] },
  }
}

/** Where a package keeps its sources, if not in src. The web page of the dashboard knows none of our packages but by type. */
const SOURCES = { dashboard: ['server/**/*.ts', 'web/**/*.{ts,tsx}'] }

function packageBoundaries(name) {
  const foreign = name === 'client' ? foreignPackages() : []
  const sources = SOURCES[name] ?? ['src/**/*.ts']
  return restrict(
    sources.map((glob) => `packages/${name}/${glob}`),
    [...EVERY_PACKAGE, laterPackages(name), ...foreign],
  )
}

function clientLayer(layer, index) {
  const above = CLIENT_LAYERS.slice(index + 1).flat()
  const upwards = {
    regex: `^\\.{1,2}/(\\.\\./)*(${above.join('|')}|index)(\\.js$|/)`,
    message: `Inside client, ${layer} stands below this module.`,
  }
  return restrict(
    [`packages/client/src/${layer}/**/*.ts`, `packages/client/src/${layer}.ts`],
    [...EVERY_PACKAGE, laterPackages('client'), ...foreignPackages(layer), ...(above.length > 0 ? [upwards] : [])],
  )
}

const TYPESCRIPT = ['**/*.ts', '**/*.tsx']

/** Statements are built in packages/sql. */
const SQL_TEXT = '/\\b(select\\s[^]*\\sfrom|insert\\s+into|update\\s+\\S+\\s+set|delete\\s+from)\\s/i'
const SQL_MESSAGE = 'This package contains no SQL text: add a statement module to packages/sql.'

export default defineConfig(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/coverage/**', '**/.data/**'] },
  {
    files: TYPESCRIPT,
    plugins: { '@typescript-eslint': tseslint.plugin },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: promises,
  },
  ...Object.keys(LATER_PACKAGES).map(packageBoundaries),
  ...CLIENT_LAYERS.flatMap((layers, index) => layers.map((layer) => clientLayer(layer, index))),
  {
    files: ['packages/sql/src/**/*.ts', 'packages/client/src/**/*.ts'],
    rules: {
      'no-console': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Take it as an option; only programs read the environment.' },
      ],
    },
  },
  {
    files: ['packages/client/src/**/*.ts', 'packages/cli/src/**/*.ts', 'packages/dashboard/**/*.{ts,tsx}'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: `Literal[value=${SQL_TEXT}]`, message: SQL_MESSAGE },
        { selector: `TemplateElement[value.raw=${SQL_TEXT}]`, message: SQL_MESSAGE },
      ],
    },
  },
  {
    files: ['examples/**/*.ts', 'test/**/*.ts', 'packages/bench/**/*.ts'],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: [DEEP] }] },
  },
)
