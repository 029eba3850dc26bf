/** ESM in Jest: start it with `NODE_OPTIONS=--experimental-vm-modules`. */
export default {
  testEnvironment: 'node',
  testMatch: ['**/jest.ts'],
  transform: { '\\.ts$': './jest-transform.cjs' },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  // Here only because these tests run on the sources of this repository; yours need no conditions.
  testEnvironmentOptions: { customExportConditions: ['@pg-tasks/source', 'node'] },
}
