// Histories are told from each other by their digests, at the first entry that differs.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstDifference, HistoryDigest } from '../../../src/main/state/history-digest.js';
import type { HistoryDigests } from '../../../src/main/state/history-digest.js';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { runs } from '../../support/scale.js';

function digestsOf(history: readonly IContent[]): HistoryDigests {
  const digest = new HistoryDigest();
  for (const entry of history) digest.add(entry);
  return digest.digests;
}

function texts(length: number): IContent[] {
  return Array.from({ length }, (_, at) => humanText(`entry ${at}`));
}

describe('firstDifference', () => {
  it('never takes an entry that differs for one that is the same, and nearly always names it', () => {
    let exact = 0;
    let all = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.nat(), (length, seed, salt) => {
        const at = seed % length;
        const edited = texts(length);
        edited[at] = humanText(`another one ${salt}`);
        const found = firstDifference(digestsOf(texts(length)), digestsOf(edited));
        // In a place that differs and in which no byte does, all counts as different.
        expect(found).toBeLessThanOrEqual(at);
        all += 1;
        if (found === at) exact += 1;
      }),
      { numRuns: runs(3_000) },
    );
    expect(exact / all).toBeGreaterThan(0.97);
  });

  it('is the length of the shorter one when that is a beginning of the other', () => {
    for (const length of [0, 1, 63, 64, 65, 128, 200]) {
      expect(firstDifference(digestsOf(texts(200)), digestsOf(texts(length)))).toBe(length);
    }
  });

  it('sees every character of a long result, and a moved border between two texts', () => {
    const result = 'x'.repeat(100_000);
    const last = toolContent([toolResponse('c', 'run', `${result}y`)]);
    const other = toolContent([toolResponse('c', 'run', `${result}z`)]);
    expect(firstDifference(digestsOf([last]), digestsOf([other]))).toBe(0);
    const ab: IContent = { speaker: 'human', blocks: [text('ab'), text('c')] };
    const bc: IContent = { speaker: 'human', blocks: [text('a'), text('bc')] };
    expect(firstDifference(digestsOf([ab]), digestsOf([bc]))).toBe(0);
  });

  it('goes neither by the order of keys nor by what is known about an entry', () => {
    const one = { ...humanText('a'), metadata: { timestamp: 1 } };
    const call = { type: 'tool_call', id: 'c', name: 'run', parameters: { a: 1, b: [2] } } as const;
    const turned = {
      parameters: { b: [2], a: 1 },
      name: 'run',
      id: 'c',
      type: 'tool_call',
    } as const;
    const a: IContent[] = [one, { speaker: 'ai', blocks: [call] }];
    const b: IContent[] = [humanText('a'), { speaker: 'ai', blocks: [turned] }];
    expect(firstDifference(digestsOf(a), digestsOf(b))).toBe(2);
  });
});

describe('HistoryDigest', () => {
  it('comes to the same however it was fed', async () => {
    const history = texts(150);
    const slow = new HistoryDigest();
    for (const entry of history) {
      slow.add(entry);
      if (history.indexOf(entry) % 40 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const sliced = new HistoryDigest();
    for (const entry of history) sliced.add(entry);
    for (const slice of sliced.settleInSlices()) expect(slice).toBeUndefined();
    expect(slow.digests).toEqual(digestsOf(history));
    expect(sliced.digests).toEqual(digestsOf(history));
    expect(sliced.names).toHaveLength(8);
  });
});

function text(value: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: value };
}
