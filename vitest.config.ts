// How tests run. What starts threads or processes gets a process of its own; all else shares one per core, for starting a
// process and loading the sources costs more than most of these files take.

import { configDefaults, defineConfig } from 'vitest/config';

const ALONE = [
  'test/attacks/**/*.test.ts',
  'test/chaos/**/*.test.ts',
  'test/contracts/**/*.test.ts',
  'test/deploy/**/*.test.ts',
  'test/examples/**/*.test.ts',
  'test/integration/**/*.test.ts',
  'test/main/offload/**/*.test.ts',
  // Put something in place of a module.
  'test/main/added-rule.test.ts',
  'test/main/settings/replace-file.test.ts',
];

const SHARED = {
  testTimeout: 30_000,
  hookTimeout: 30_000,
  pool: 'forks' as const,
  setupFiles: ['test/support/seed.ts'],
};

export default defineConfig({
  test: {
    projects: [
      { test: { ...SHARED, name: 'alone', include: ALONE } },
      {
        test: {
          ...SHARED,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          isolate: false,
        },
      },
    ],
    // Code that runs in real threads does not count; it is tested in-process as well.
    maxWorkers: '100%',
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text', 'html'] },
  },
});
