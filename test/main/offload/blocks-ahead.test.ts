// Blocks that are created and counted before their edit lands.

import { describe, expect, it } from 'vitest';
import { BlocksAhead } from '../../../src/main/offload/blocks-ahead.js';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { materializeDensityPlan } from '../../../src/shared/density/plan/materialize.js';
import { ROW_LENGTH } from '../../../src/shared/density/plan/plan.js';
import { ACTION } from '../../../src/shared/density/rules/marks.js';
import { countEachEntry } from '../../support/count-each-entry.js';
import { countThirds } from '../../support/piece-counters.js';

const RESULT = Array.from({ length: 80 }, (_, at) => `src/room-${at}/file-${at}.ts`).join('\n');

/** A call whose text may be shortened, and its result. */
function pair(at: number): readonly IContent[] {
  const parameters = { file_path: 'a.ts', content: `${'x'.repeat(400)}${at}` };
  return [
    aiContent([toolCall(`c${at}`, 'write_file', parameters)]),
    toolContent([toolResponse(`c${at}`, 'write_file', RESULT)]),
  ];
}

function historyOf(pairs: number): readonly IContent[] {
  return Array.from({ length: pairs }, (_, at) => pair(at)).flat();
}

/** Shortens each call, and replaces each result by an excerpt. */
function planOf({ length }: readonly IContent[]): Int32Array {
  const rows = Array.from({ length }, (_, at) => {
    return [at, 0, at % 2 === 0 ? ACTION.shorten : ACTION.excerpt, 0, -1, -1];
  });
  return Int32Array.from(rows.flat());
}

const always = (): boolean => true;

function blocksAhead(): { readonly ahead: BlocksAhead; readonly counted: number[] } {
  const counted: number[] = [];
  const ahead = new BlocksAhead((entries) => {
    counted.push(entries.length);
    return Promise.resolve([...countEachEntry(entries, countThirds)]);
  });
  return { ahead, counted };
}

describe('BlocksAhead', () => {
  it('makes the blocks that the edit will put in place, and knows their tokens', async () => {
    const { ahead, counted } = blocksAhead();
    const history = historyOf(20);
    const plan = planOf(history);
    await ahead.make(plan, DEFAULT_DENSITY_CONFIG, history, always);
    const { replacements } = materializeDensityPlan(plan, history, DEFAULT_DENSITY_CONFIG);
    const left = [...replacements.values()];
    expect(left.length).toBe(40);
    expect(left.map((entry) => ahead.tokensOf(entry))).toEqual([
      ...countEachEntry(left, countThirds),
    ]);
    expect(history.map((entry) => ahead.tokensOf(entry))).toEqual(history.map(() => undefined));
    await ahead.make(plan.slice(), DEFAULT_DENSITY_CONFIG, history, always);
    expect(counted).toEqual([40]);
  });

  it('passes over rows that put no block in place', async () => {
    const { ahead, counted } = blocksAhead();
    const history = historyOf(1);
    const drop = [0, 0, ACTION.drop, 0, -1, -1];
    const plan = Int32Array.from([...drop, ...planOf(history)]);
    await ahead.make(plan, DEFAULT_DENSITY_CONFIG, history, always);
    expect(counted).toEqual([2]);
  });

  it('starts in a later turn of the event loop than the plan, after callers that waited for it', async () => {
    const { ahead, counted } = blocksAhead();
    const history = historyOf(2);
    let isCurrent = true;
    const plan = planOf(history);
    const making = ahead.make(plan, DEFAULT_DENSITY_CONFIG, history, () => isCurrent);
    await Promise.resolve();
    isCurrent = false;
    await making;
    expect(counted).toEqual([]);
  });

  it('abandons a plan for a newer one, and works on a long one in slices', async () => {
    const { ahead, counted } = blocksAhead();
    const history = historyOf(60);
    const [long, short] = [planOf(history), planOf(history.slice(0, 4))];
    const making = ahead.make(long, DEFAULT_DENSITY_CONFIG, history, always);
    await nextTurn();
    await nextTurn();
    expect(counted).toEqual([]);
    await ahead.make(short, DEFAULT_DENSITY_CONFIG, history, always);
    await making;
    expect(counted).toEqual([4]);
  });

  it('leaves plans that are too long, informative placeholders, and failed counts to the preflight', async () => {
    const { ahead, counted } = blocksAhead();
    const history = historyOf(200);
    const plan = planOf(history);
    await ahead.make(plan, DEFAULT_DENSITY_CONFIG, history, always);
    const placeholder = 'informative';
    const few = plan.slice(0, 4 * ROW_LENGTH);
    await ahead.make(few, { ...DEFAULT_DENSITY_CONFIG, placeholder }, history, always);
    expect(counted).toEqual([]);
    const failing = new BlocksAhead(() => Promise.reject(new Error('nobody counts')));
    await failing.make(few, DEFAULT_DENSITY_CONFIG, history, always);
    const { replacements } = materializeDensityPlan(few, history, DEFAULT_DENSITY_CONFIG);
    const [first] = replacements.values();
    expect(first && failing.tokensOf(first)).toBeUndefined();
  });

  it('leaves an entry that the host has changed to the preflight', async () => {
    const { ahead, counted } = blocksAhead();
    const broken = { speaker: 'tool' } as unknown as IContent;
    await ahead.make(planOf(historyOf(1)), DEFAULT_DENSITY_CONFIG, [broken, broken], always);
    expect(counted).toEqual([]);
  });
});
