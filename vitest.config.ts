// How tests run. Files share a process per core, for starting one and loading the sources costs more than most of these files
// take. Those listed get a process of their own: what kills threads or changes the process, and what replaces modules.

import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const ALONE = [
  'test/chaos/**/*.test.ts',
  'test/contracts/**/*.test.ts',
  'test/integration/{resident-sessions,worker-death}.test.ts',
  'test/main/offload/worker-pool*.test.ts',
  // Changes the folder, the flags of the engine.
  'test/attacks/{hostile-arguments,linear-time}.test.ts',
  'test/deploy/**/*.test.ts',
  // Put something in place of a module.
  'test/gateway/engine/threaded-engine.test.ts',
  'test/main/added-rule.test.ts',
  'test/main/removal-log/new-folders.test.ts',
  'test/main/session-close.test.ts',
  'test/main/settings/profile-replace-file.test.ts',
  'test/main/state/directory-store.test.ts',
  'test/shared/density/index/windows-paths.test.ts',
];

/** Where many files share a process, sources are used again after a while: they are not to be compiled anew for that. */
const KEEPS_CODE = ['--no-flush-bytecode'];

/**
 * Most code of tests runs a few times: where a function has to run nine times as long before it is optimized, they take a sixth less of the
 * processor. Newer engines go by another measure.
 */
const OPTIMIZES_LATER = process.versions.node.startsWith('20.')
  ? ['--interrupt-budget=600000']
  : [];

/** To end what hangs, in milliseconds: a machine that is busy may take its time, and whoever plays more cases than `npm test` does. */
const TIMEOUT = process.env['TEST_SCALE'] === undefined ? 180_000 : 900_000;

const SHARED = {
  testTimeout: TIMEOUT,
  hookTimeout: TIMEOUT,
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks' as const,
  // What tests make is soon dead: with more room for what is young, they take a twentieth less of the processor.
  execArgv: ['--max-semi-space-size=64'],
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
          // Those that race with deadlines run as a process of a user does.
          execArgv: [...SHARED.execArgv, ...KEEPS_CODE, ...OPTIMIZES_LATER],
        },
      },
    ],
    // What was compiled once is not compiled again, by whoever runs it: a tenth of the processor that the suite takes.
    experimental: { fsModuleCache: true },
    // One more than there are cores: a third of the time, each of them waits for threads, other processes or a timer.
    maxWorkers: availableParallelism() + 1,
    // Code that runs in real threads does not count; it is tested in-process as well.
    coverage: { provider: 'v8', include: ['src/**/*.ts'], reporter: ['text', 'html'] },
  },
});
