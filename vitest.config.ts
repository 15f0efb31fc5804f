// Test files share a process per core, because starting a process and loading the sources takes longer than most files. Files
// that kill threads, modify the process or mock modules get a process of their own.

import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const ALONE = [
  'test/chaos/**/*.test.ts',
  'test/contracts/**/*.test.ts',
  'test/integration/{resident-sessions,worker-death}.test.ts',
  'test/main/offload/worker-pool*.test.ts',
  // Change the working directory or V8 flags.
  'test/attacks/{hostile-arguments,linear-time}.test.ts',
  'test/deploy/**/*.test.ts',
  // Mock a module.
  'test/gateway/engine/threaded-engine.test.ts',
  'test/main/added-rule.test.ts',
  'test/main/removal-log/new-folders.test.ts',
  'test/main/session-close.test.ts',
  'test/main/settings/profile-replace-file.test.ts',
  'test/main/state/directory-store.test.ts',
  'test/shared/density/index/windows-paths.test.ts',
];

/** With shared processes, sources are needed again later: keeps V8 from flushing their bytecode. */
const KEEPS_CODE = ['--no-flush-bytecode'];

/**
 * Most test code runs a few times. Optimizing a function nine times later saves a sixth of the CPU time. Node 22 and newer use
 * another heuristic.
 */
const OPTIMIZES_LATER = process.versions.node.startsWith('20.')
  ? ['--interrupt-budget=600000']
  : [];

/** Milliseconds until a hanging test is ended; generous for busy machines, and for runs with more cases than `npm test` has. */
const TIMEOUT = process.env['TEST_SCALE'] === undefined ? 180_000 : 900_000;

/** Tests of the whole: the built package, processes, servers, threads that die, bundlers, a browser, benchmarks. They take nearly half of the time. */
const OF_THE_WHOLE = [
  'test/{attacks,bench,chaos,contracts,deploy,examples,gateway/server,integration}/**',
  'test/**/{*browser,crash,postgres-store,readme,redis-store,start-gateway,worker-pool*}.test.ts',
];
const EXCLUDED = process.env['TESTS_OF'] === 'sources' ? OF_THE_WHOLE : [];

const SHARED = {
  testTimeout: TIMEOUT,
  hookTimeout: TIMEOUT,
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks' as const,
  // Tests create short-lived objects. A larger young generation saves a twentieth of the CPU time.
  execArgv: ['--max-semi-space-size=64'],
  setupFiles: ['test/support/seed.ts'],
};

export default defineConfig({
  test: {
    projects: [
      { test: { ...SHARED, name: 'alone', include: ALONE, exclude: EXCLUDED } },
      {
        test: {
          ...SHARED,
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE, ...EXCLUDED],
          isolate: false,
          // Not for the files above, which race with deadlines and must run like a user's process.
          execArgv: [...SHARED.execArgv, ...KEEPS_CODE, ...OPTIMIZES_LATER],
        },
      },
    ],
    // Caches compiled modules across runs: saves a tenth of the CPU time.
    experimental: { fsModuleCache: true },
    // One more than cores, because a worker waits for threads, processes or timers a third of the time.
    maxWorkers: availableParallelism() + 1,
    // Code that runs in real threads is not counted; in-process tests cover it as well.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text', 'html'] },
  },
});
