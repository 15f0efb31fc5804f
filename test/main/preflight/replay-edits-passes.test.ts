import { describe, expect, it } from 'vitest';
import { ReplayedPasses } from '../../../src/main/preflight/replay-edits.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG, NO_EDITS, PRUNED_POINTER } from '../../../src/shared/density.js';
import type { DensityConfig } from '../../../src/shared/density.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { RESIDENT_AGENT } from '../../support/resident-session.js';

const CONFIG: DensityConfig = { ...DEFAULT_DENSITY_CONFIG, ...RESIDENT_AGENT, shrink: 'default' };

function call(id: string): IContent {
  return { speaker: 'ai', blocks: [{ type: 'tool_call', id, name: 'shell', parameters: {} }] };
}

function result(callId: string, text: string): IContent {
  const block: ContentBlock = { type: 'tool_response', callId, toolName: 'shell', result: text };
  return { speaker: 'tool', blocks: [block] };
}

/** Lines that no other number has. */
function linesOf(at: number, length: number): string {
  return Array.from({ length }, (_, line) => `result ${at}: line ${line} of what was found`).join(
    '\n',
  );
}

describe('ReplayedPasses', () => {
  it.each([
    { long: 70, edited: 55, lines: 2_000, shown: 10 },
    { long: 1_500, edited: 250, lines: 14, shown: 1_240 },
  ])('finds what a fresh pass does once most results have gone: %o', (parts) => {
    const { long, edited, lines, shown } = parts;
    const history = Array.from({ length: long }, (_unused, at) => [
      call(`c${at}`),
      result(`c${at}`, linesOf(at, lines)),
    ]).flat();
    const passes = new ReplayedPasses(CONFIG, { getRawHistory: () => history });
    passes.find(CONFIG);

    const replacements = new Map<number, IContent>();
    for (let at = long - edited; at < long; at += 1) {
      replacements.set(2 * at + 1, result(`c${at}`, PRUNED_POINTER));
    }
    for (const [entry, content] of replacements) history[entry] = content;
    passes.noteLanding({ ...NO_EDITS, replacements }, false);
    history.push(call('last'), result('last', `${linesOf(shown, lines)}\nand more`));

    const expected = optimize(history, CONFIG);
    expect([...expected.replacements.keys()]).toEqual([history.length - 1]);
    expect(passes.findShrinks(CONFIG)?.result).toEqual(expected);
  });
});
