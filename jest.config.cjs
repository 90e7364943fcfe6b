// One configuration for every project: TypeScript through swc to CommonJS, run with --experimental-vm-modules so that
// Jest can require the ESM-only packages (docs/adr/0004-jest.md). Files named *.long.spec.ts run in `npm run test:long`.
const long = process.env.TIDEMARK_TEST_LONG === '1';

module.exports = {
  rootDir: __dirname,
  testEnvironment: 'node',
  // A machine that does other work too may be many times slower; a test that hangs still ends.
  testTimeout: 30_000,
  testEnvironmentOptions: { customExportConditions: ['@tidemark/source', 'node', 'node-addons'] },
  roots: ['<rootDir>/apps', '<rootDir>/libs', '<rootDir>/tools'],
  testMatch: [long ? '**/src/**/*.long.spec.ts' : '**/src/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', ...(long ? [] : ['\\.long\\.spec\\.ts$'])],
  modulePathIgnorePatterns: ['<rootDir>/dist'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        swcrc: false,
        sourceMaps: 'inline',
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true },
          target: 'es2024',
          keepClassNames: true,
        },
        module: { type: 'commonjs' },
      },
    ],
  },
  moduleNameMapper: { '^fast-check$': '<rootDir>/tools/launcher/seeded-fast-check.cjs' },
  testSequencer: '<rootDir>/tools/launcher/longest-first.cjs',
  coverageProvider: 'v8',
  coverageDirectory: '<rootDir>/coverage',
  collectCoverageFrom: ['apps/*/src/**/*.ts', 'libs/**/src/**/*.ts', '!**/*.spec.ts'],
  coverageReporters: ['json-summary'],
  maxWorkers: 2,
  // V8's coverage looks at every script that a process has ever loaded, so an old worker spends seconds after each file. A new one is quick.
  workerIdleMemoryLimit: '500MB',
};
