// The whole gate: build, typecheck, lint, the report of the public API, tests. Arguments choose test files. The last line printed is
// `N passed, N failed`; a check that fails counts as one failure, and only a failed build ends the run.

import { spawnSync } from 'node:child_process';
import { startVitest } from 'vitest/node';

let passed = 0;
let failed = 0;

/** Runs an npm script and tells whether it succeeded. */
function succeeds(script) {
  console.log(`\n> ${script}`);
  const { status } = spawnSync(`npm run --silent ${script}`, { stdio: 'inherit', shell: true });
  if (status === 0) return true;
  console.error(`> ${script} failed`);
  failed += 1;
  return false;
}

async function runTests() {
  console.log('\n> tests');
  const vitest = await startVitest('test', process.argv.slice(2), { watch: false });
  const modules = vitest.state.getTestModules();
  for (const module of modules) {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    passed += states.filter((state) => state === 'passed').length;
    const failures = states.filter((state) => state === 'failed').length;
    // A file that cannot be loaded or whose hooks fail has no failed test of its own.
    failed += failures === 0 && !module.ok() ? 1 : failures;
  }
  failed += vitest.state.getUnhandledErrors().length;
  if (modules.length === 0) failed += 1;
  await vitest.close();
}

if (succeeds('build')) {
  succeeds('typecheck');
  succeeds('lint');
  succeeds('api-report');
  await runTests();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
