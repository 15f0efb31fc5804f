import { describe, expect, it } from 'vitest';
import { GrowingIndex } from '../../../src/main/offload/growing-index.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG, PRUNED_POINTER } from '../../../src/shared/density.js';
import type { DensityConfig } from '../../../src/shared/density.js';
import { scopeOfSession } from '../../../src/shared/density/index/index-scope.js';
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

/** Lines that no other number has. */
function linesOf(at: number, length: number): string {
  return Array.from({ length }, (_, line) => `result ${at}: line ${line} of what was found`).join(
    '\n',
  );
}

describe('GrowingIndex', () => {
  it.each([
    { long: 70, edited: 55, lines: 2_000, shown: 10 },
    { long: 1_500, edited: 250, lines: 14, shown: 1_240 },
  ])('plans what a fresh pass does once most results have gone: %o', (parts) => {
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
});
