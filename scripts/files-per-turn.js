// Counts the source files that one warm turn executes on the thread of the turn loop: what somebody has to read to follow an
// edit. `npm run files-per-turn`; `-- --list` names the files and functions.

import { Session as Inspector } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { compileBench } from './compile-bench.js';

await compileBench();

// The sources compiled file by file, because dist is bundled.
const PRODUCT = fileURLToPath(new URL('../.bench/src/', import.meta.url));
const { createCompactor, humanText, aiContent, toolCall, toolContent, toolResponse } =
  await import('../.bench/src/index.js');

const MOST_FILES = 45;
const WARM_TURNS = 20;

/** A turn in which an edit lands: a file is read, then written, so the read is stale. */
async function addTurn({ history }, turn) {
  const file_path = `src/file-${turn}.ts`;
  const steps = [
    ['read_file', { file_path }, 'export const answer = 41;\n'.repeat(20)],
    ['write_file', { file_path, content: 'export const answer = 42;' }, 'written'],
  ];
  for (const [at, [tool, parameters, result]] of steps.entries()) {
    const id = `${turn}.${at}`;
    history.add(aiContent([toolCall(id, tool, parameters)]));
    history.add(toolContent([toolResponse(id, tool, result)]));
  }
  // Wait here so that token counts, which workers send at any time, do not land in the measured turn.
  await history.waitForTokenUpdates();
}

async function prepareSend(session, turn) {
  const { pruned } = await session.ensureCompressionBeforeSend(`turn-${turn}`);
  if (pruned === null) throw new Error('Expected an edit to land in each turn.');
}

/** Returns the functions called since the last call, by file. */
async function takeCalls(inspector) {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  const calls = new Map();
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const path = fileURLToPath(url);
    if (!path.startsWith(PRODUCT)) continue;
    const called = functions.filter(({ ranges: [{ count }] }) => count > 0);
    if (called.length === 0) continue;
    calls.set(
      path.slice(PRODUCT.length),
      called.map(({ functionName }) => functionName || '(anonymous)'),
    );
  }
  return calls;
}

async function callsOfTurn(offload) {
  const compactor = createCompactor({ offload, threads: 1, workspaceRoot: '/work' });
  const inspector = new Inspector();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  try {
    const session = await compactor.createSession({ history: [humanText('Fix the answer.')] });
    for (let turn = 0; turn < WARM_TURNS; turn += 1) {
      await addTurn(session, turn);
      await prepareSend(session, turn);
    }
    await addTurn(session, WARM_TURNS);
    await takeCalls(inspector);
    await prepareSend(session, WARM_TURNS);
    return await takeCalls(inspector);
  } finally {
    inspector.disconnect();
    await compactor.close();
  }
}

for (const offload of ['inline', 'resident']) {
  const calls = await callsOfTurn(offload);
  const functions = [...calls.values()].flat().length;
  const verdict = calls.size > MOST_FILES ? `more than ${MOST_FILES}` : 'fine';
  console.log(`${offload}: ${calls.size} files, ${functions} functions: ${verdict}`);
  if (calls.size > MOST_FILES) process.exitCode = 1;
  if (!process.argv.includes('--list')) continue;
  for (const [path, names] of [...calls].sort()) console.log(`  ${path}: ${names.join(', ')}`);
}
