import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { GrowingIndex } from '../../../src/main/offload/growing-index.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG, PRUNED_POINTER } from '../../../src/shared/density.js';
import type { DensityConfig } from '../../../src/shared/density.js';
import { scopeOfSession } from '../../../src/shared/density/index/index-scope.js';
import { KnownShingles } from '../../../src/shared/density/index/shown-lines.js';
import { REACH_RESULTS } from '../../../src/shared/density/index/unsent-results.js';
import { optimize, planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { RESIDENT_AGENT } from '../../support/resident-session.js';

const CONFIG: DensityConfig = { ...DEFAULT_DENSITY_CONFIG, ...RESIDENT_AGENT, shrink: 'default' };

function call(id: string): IContent {
  return { speaker: 'ai', blocks: [{ type: 'tool_call', id, name: 'shell', parameters: {} }] };
}

function result(callId: string, text: string): IContent {
  const block: ContentBlock = { type: 'tool_response', callId, toolName: 'shell', result: text };
  return { speaker: 'tool', blocks: [block] };
}

/** Lines that only this number has. */
function linesOf(at: number, length: number): string {
  return Array.from({ length }, (_, line) => `result ${at}: line ${line} of what was found`).join(
    '\n',
  );
}

describe('GrowingIndex', () => {
  it.each([
    { long: 70, edited: 55, lines: 2_000, shown: 10 },
    { long: 1_500, edited: 250, lines: 14, shown: 1_240 },
  ])('plans the same as a fresh pass after most results were removed: %o', (parts) => {
    const { long, edited, lines, shown } = parts;
    const history = Array.from({ length: long }, (_unused, at) => [
      call(`c${at}`),
      result(`c${at}`, linesOf(at, lines)),
    ]).flat();
    const index = new GrowingIndex(scopeOfSession(CONFIG));
    index.plan(history, CONFIG);

    const replacements = new Map<number, IContent>();
    for (let at = long - edited; at < long; at += 1) {
      replacements.set(2 * at + 1, result(`c${at}`, PRUNED_POINTER));
    }
    for (const [entry, content] of replacements) history[entry] = content;
    index.noteEdit({ removals: [], replacements });
    history.push(call('last'), result('last', `${linesOf(shown, lines)}\nand more`));

    expect([...optimize(history, CONFIG).replacements.keys()]).toEqual([history.length - 1]);
    expect(index.plan(history, CONFIG)).toEqual(planWithTexts(history, CONFIG));
  });

  it('indexes a long history at once like entry by entry, and notes no lines of results far from the end', () => {
    const history = [call('open'), call('c'), result('c', 'short')];
    for (let at = 0; at < 1_000; at += 1) {
      history.push(call(`c${at}`), result(`c${at}`, linesOf(at, 14)));
    }
    // A response to an old call, with lines shown recently and lines shown long ago.
    history.push(call('last'), result('open', `${linesOf(980, 14)}\n${linesOf(5, 14)}`));
    const note = vi.spyOn(KnownShingles.prototype, 'note');
    onTestFinished(() => void vi.restoreAllMocks());
    const index = new GrowingIndex(scopeOfSession(CONFIG));
    const planned = index.plan(history, CONFIG);
    expect(note.mock.calls.length).toBeLessThan(REACH_RESULTS + 3);

    const grown = new GrowingIndex(scopeOfSession(CONFIG));
    for (let end = 1; end <= history.length; end += 1) grown.plan(history.slice(0, end), CONFIG);
    // The text, and where each line was shown.
    expect(planned.texts).toHaveLength(2);
    expect(planned).toEqual(grown.plan(history, CONFIG));
  });
});
