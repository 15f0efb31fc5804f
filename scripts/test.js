// Builds, then runs the tests in parallel with type check, lint and API report. Arguments select test files. Without arguments,
// only the tests of the sources run; `--all` adds those of the whole. `--whole` plays all listed cases and a quarter of the random
// ones, with new seeds unless TEST_SEED is set, and lints everything with types. The last line is `N passed, N failed`. A failed
// check counts as one failure; only a failed build stops the run.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values, positionals } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.whole) {
  process.env.TEST_SCALE ??= '0.25';
  process.env.TEST_SEED ??= 'random';
}
process.env.LINT ??= values.whole ? 'whole' : 'quick';

/**
 * Lints changed files only. When that fails, lints again without the cache: a cached import cycle may have been fixed in another
 * file.
 */
const QUICK_LINT =
  'eslint -- --cache --cache-strategy content --cache-location node_modules/.cache/eslint/ > /dev/null 2>&1 || npm run --silent eslint';
// The quick run does not check formatting, which takes as long as the other checks together.
const CHECKS = ['typecheck', values.whole ? 'lint' : QUICK_LINT, 'api-report'];

if (!values.all && !values.whole && positionals.length === 0) process.env.TESTS_OF ??= 'sources';

let passed = 0;
let failed = 0;

/** Runs an npm script. Resolves to its output and whether it succeeded. */
async function run(script) {
  const child = spawn(`npm run --silent ${script} 2>&1`, { shell: true });
  const closed = once(child, 'close');
  const output = await text(child.stdout);
  const [code] = await closed;
  return { script: script.split(' ', 1)[0], output, succeeds: code === 0 };
}

function tell({ script, output, succeeds }) {
  if (!succeeds) failed += 1;
  console.log(`\n> ${script}${succeeds ? '' : ' failed'}\n${output}`.trimEnd());
}

/** One after the other, so that they take one core and leave the rest to the tests. */
async function runChecks() {
  const outcomes = [];
  for (const check of CHECKS) outcomes.push(await run(check));
  return outcomes;
}

async function runTests() {
  console.log('\n> tests');
  const vitest = await startVitest('test', positionals, { watch: false });
  const modules = vitest.state.getTestModules();
  for (const module of modules) {
    const states = [...module.children.allTests()].map((test) => test.result().state);
    passed += states.filter((state) => state === 'passed').length;
    const failures = states.filter((state) => state === 'failed').length;
    // A file that does not load or whose hooks fail has no failed test of its own.
    failed += failures === 0 && !module.ok() ? 1 : failures;
  }
  failed += vitest.state.getUnhandledErrors().length;
  if (modules.length === 0) failed += 1;
  await vitest.close();
}

// The checks include the type check.
const build = await run('build -- --no-check');
tell(build);
if (build.succeeds) {
  const checks = runChecks();
  await runTests();
  // Printed last, so as not to mix with the output of the tests.
  for (const outcome of await checks) tell(outcome);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
