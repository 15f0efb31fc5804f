// A session whose windows are aborted again and again, beside one without aborts: both send the same.

import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { EditPolicy } from '../../src/main/preflight/edit-options.js';
import type { Session } from '../../src/main/session.js';
import { aiContent, humanText, toolContent, toolResponse } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { sample } from '../support/scale.js';

const TURNS = 45;
/** More turns of the microtask queue than a window takes. */
const MOST_TICKS = 48;
const POLICIES: readonly EditPolicy[] = ['auto', 'batched', 'append-only'];

const opened: Compactor[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((compactor) => compactor.close()));
});

function open(edits: EditPolicy): Promise<Session> {
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit: 20_000,
    workspaceRoot: '/src',
    settings: { 'compression.ahead': 1 },
  });
  opened.push(compactor);
  return compactor.createSession({ edits, now: () => 0 });
}

/** Reads a file, and in every third turn writes one that was read before. */
function turnOf(turn: number): readonly IContent[] {
  const id = `call-${turn}`;
  const name = turn % 3 === 2 ? 'write_file' : 'read_file';
  const parameters = { file_path: `/src/${turn % 5}.ts`, content: 'x' };
  const result = name === 'read_file' ? `const value = ${turn};\n`.repeat(120) : 'written';
  return [
    ...(turn % 4 === 0 ? [humanText(`do ${turn}`)] : []),
    aiContent([{ type: 'tool_call', id, name, parameters }]),
    toolContent([toolResponse(id, name, result)]),
  ];
}

function window(session: Session, signal?: AbortSignal): Promise<unknown> {
  return session.ensureCompressionBeforeSend('p', 0, 'send', { signal });
}

/** Runs a window and aborts it, `ticks` turns of the microtask queue after it began. Returns whether it was aborted. */
async function isCalledOff(session: Session, ticks: number): Promise<boolean> {
  const { requests } = session.costs();
  const controller = new AbortController();
  const ended = window(session, controller.signal).catch(() => undefined);
  for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
  controller.abort();
  await ended;
  // A window that had just completed counts as sent.
  return session.costs().requests === requests;
}

it.each(POLICIES)('sends under %s what it would without aborts', async (edits) => {
  let [calledOff, edited] = [0, 0];
  for (const ticks of sample(
    Array.from({ length: MOST_TICKS }, (_, tick) => tick),
    2,
  )) {
    const [steady, disturbed] = await Promise.all([open(edits), open(edits)]);
    steady.on('pruned', () => (edited += 1));
    for (let turn = 0; turn < TURNS; turn += 1) {
      for (const session of [steady, disturbed]) session.history.addAll(turnOf(turn));
      await window(steady);
      if (await isCalledOff(disturbed, ticks)) {
        calledOff += 1;
        await window(disturbed);
      }
      const isSame = isDeepStrictEqual(disturbed.history.getCurated(), steady.history.getCurated());
      expect(isSame, `turn ${turn}, ${ticks} ticks`).toBe(true);
    }
  }
  expect(calledOff).toBeGreaterThan(TURNS / 2);
  expect(edited).toBeGreaterThan(0);
});

it('counts no request after its window was reported as aborted', async () => {
  const session = await open('auto');
  const late: number[] = [];
  for (let ticks = 0; ticks < MOST_TICKS; ticks += 1) {
    session.history.addAll(turnOf(ticks));
    await isCalledOff(session, ticks);
    const { requests } = session.costs();
    await setImmediate();
    if (session.costs().requests !== requests) late.push(ticks);
  }
  expect(late).toEqual([]);
});
