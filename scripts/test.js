// The gate: build, then tests beside typecheck, lint and the report of the public API. Arguments choose test files. Without any,
// the tests of the sources are run; with --all, those of the whole as well; with --whole, with all cases, random ones others
// in each run unless TEST_SEED says which, and everything is linted with types. The last line printed is `N passed, N failed`;
// a check that fails counts as one failure, and only a failed build ends the run.

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
  process.env.TEST_SCALE ??= '1';
  process.env.TEST_SEED ??= 'random';
}
process.env.LINT ??= values.whole ? 'whole' : 'quick';

/** What has not changed is not looked at again. A cycle of imports may be gone by a change of another file, which a second look tells. */
const QUICK_LINT =
  'eslint -- --cache --cache-strategy content --cache-location node_modules/.cache/eslint/ > /dev/null 2>&1 || npm run --silent eslint';
// How files are formatted takes as long to look at as all that matters more.
const CHECKS = ['typecheck', values.whole ? 'lint' : QUICK_LINT, 'api-report'];

/**
 * What plays the whole: the built package, processes, servers, bundlers, a browser. A tenth of the files, for half of the time.
 */
const TESTS_OF_THE_WHOLE = [
  'test/{attacks,chaos,contracts,deploy,examples,integration}/**',
  'test/**/*browser.test.ts',
];
const playsAll = values.all || values.whole || positionals.length > 0;

let passed = 0;
let failed = 0;

/** Runs an npm script; resolves to whether it succeeded, and to what it printed. */
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

/** One after the other: beside the tests, they are to take one core. */
async function runChecks() {
  const outcomes = [];
  for (const check of CHECKS) outcomes.push(await run(check));
  return outcomes;
}

async function runTests() {
  console.log('\n> tests');
  const cliExclude = playsAll ? [] : TESTS_OF_THE_WHOLE;
  const vitest = await startVitest('test', positionals, { watch: false, cliExclude });
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

// What the checks are about to look at, the build does not look at.
const build = await run('build -- --no-check');
tell(build);
if (build.succeeds) {
  const checks = runChecks();
  await runTests();
  // Told last: what the tests print would stand in between.
  for (const outcome of await checks) tell(outcome);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
