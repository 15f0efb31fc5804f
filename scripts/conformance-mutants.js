// Mutation tests for docs/conformance.md: plants a violation for each row, runs the tests that the row cites, and fails when they
// pass. `node scripts/conformance-mutants.js [--only text]... [--json]`, after a build. The violations are in
// test/conformance/mutants.json. Works on a copy in .tmp; the sources stay untouched.

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    json: { type: 'boolean', default: false },
  },
});
/** Folders that tests read. */
const COPIED = ['src', 'test', 'bench', 'examples', 'docs', 'scripts', 'dist'];
const SCRATCH = resolve('.tmp/mutants');
const RESULT = join(SCRATCH, 'result.json');
const HANGS_AFTER_MS = 300_000;

/** The cited tests by row of the page: file and name. */
function citations() {
  const rows = new Map();
  for (const line of readFileSync('docs/conformance.md', 'utf8').split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    const cited = [...(cells[4] ?? '').matchAll(/`([^`›]+) › ([^`]+)`/g)];
    if (cited.length > 0)
      rows.set(
        cells[1],
        cited.map(([, file, name]) => ({ file, name })),
      );
  }
  return rows;
}

function makeCopy() {
  rmSync(SCRATCH, { recursive: true, force: true });
  mkdirSync(SCRATCH, { recursive: true });
  const files = readdirSync('.').filter((name) => /\.(json|ts|js|md)$/.test(name));
  for (const name of [...COPIED, ...files]) cpSync(name, join(SCRATCH, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(SCRATCH, 'node_modules'));
}

/** A pattern for a test name, with wildcards for the placeholders of `it.each`. */
function patternOf(name) {
  const literals = name.split(/%[sdifj]|\$[\w.]+/);
  return literals.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.+');
}

/**
 * Runs the cited tests on the copy. Returns the failed tests with their files (`*` as name if the file does not load), or
 * `undefined` after a timeout.
 */
function failuresOf(cited) {
  const files = [...new Set(cited.map(({ file }) => join('test', file)))];
  const pattern = cited.map(({ name }) => `${patternOf(name)}$`).join('|');
  rmSync(RESULT, { force: true });
  const options = ['--reporter=json', `--outputFile=${RESULT}`, '-t', pattern];
  const { stderr, error } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...files, ...options],
    { cwd: SCRATCH, encoding: 'utf8', timeout: HANGS_AFTER_MS },
  );
  // A mutant that hangs looks like a busy machine.
  if (error?.code === 'ETIMEDOUT') return undefined;
  let report;
  try {
    report = JSON.parse(readFileSync(RESULT, 'utf8'));
  } catch {
    throw new Error(`The tests could not be run: ${stderr}`);
  }
  return report.testResults.flatMap(({ name: file, status, assertionResults }) => {
    // Timeouts do not count as caught: they may come from a busy machine.
    const failed = assertionResults.filter(
      ({ status, failureMessages = [] }) =>
        status === 'failed' && !/(?:Test|Hook) timed out/.test(failureMessages[0] ?? ''),
    );
    const names = failed.map(({ title }) => title);
    if (assertionResults.length === 0 && status === 'failed') names.push('*');
    return names.map((name) => ({ file, name }));
  });
}

function isCaught(cited, failures) {
  return cited.some(({ file, name }) =>
    failures.some(
      (failure) =>
        failure.file.endsWith(join('test', file)) &&
        (failure.name === '*' || new RegExp(`^${patternOf(name)}$`).test(failure.name)),
    ),
  );
}

function outcomeOf(cited, failures) {
  if (failures === undefined) return 'hung';
  return isCaught(cited, failures) ? 'caught' : 'survived';
}

const rows = citations();
const { mutants, without } = JSON.parse(readFileSync('test/conformance/mutants.json', 'utf8'));
const wanted = (row) => values.only.some((text) => row.includes(text));
makeCopy();
const outcomes = [];
for (const { rows: violated, file, before, after } of mutants) {
  const own = violated.filter(wanted);
  if (own.length === 0) continue;
  const target = join(SCRATCH, 'src', file);
  const source = readFileSync(target, 'utf8');
  const places = source.split(before);
  if (places.length !== 2) {
    outcomes.push(...own.map((row) => ({ row, file, outcome: 'stale', before })));
    continue;
  }
  writeFileSync(target, places.join(after));
  const failures = failuresOf(own.flatMap((row) => rows.get(row) ?? []));
  writeFileSync(target, source);
  for (const row of own) {
    const outcome = outcomeOf(rows.get(row) ?? [], failures);
    outcomes.push({ row, file, outcome, ...(outcome !== 'caught' && { before, after }) });
    if (!values.json) console.log(`${outcome}  ${row}  ${file}`);
  }
}
rmSync(SCRATCH, { recursive: true });

const count = (outcome) => outcomes.filter((each) => each.outcome === outcome).length;
if (values.json) console.log(JSON.stringify(outcomes, null, 2));
for (const { row, file, outcome, before, after } of outcomes) {
  if (outcome === 'caught' || values.json) continue;
  console.log(
    `\n${outcome}: ${row}, ${file}\n- ${before}${after === undefined ? '' : `\n+ ${after}`}`,
  );
}
const exempt = Object.keys(without).filter(wanted).length;
console.log(
  `${new Set(outcomes.map(({ row }) => row)).size} rows, ${exempt} without: ` +
    `${count('caught')} violations caught, ${count('survived')} survived, ${count('hung')} hung, ${count('stale')} no longer apply`,
);
process.exitCode = count('caught') === outcomes.length ? 0 : 1;
