// The packed tokens of a history, compared with packing all of it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { HistoryService } from '../../../src/main/history-service.js';
import { presentEntriesOf, unpackTokens } from '../../../src/main/state/present-entries.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { runs } from '../../support/scale.js';

/** Numbers that take one, two and three bytes. */
const TOKENS = [0, 1, 126, 127, 128, 16_382, 16_383, 16_384, 2_000_000];

function pack(history: HistoryService): Uint8Array {
  return presentEntriesOf(history).packedTokens;
}

function entry(number: number): IContent {
  return humanText(`entry ${number}`);
}

function tokensOf(content: IContent): number {
  const [block] = content.blocks;
  const text = block?.type === 'text' ? block.text : '';
  return TOKENS[Number(text.slice('entry '.length)) % TOKENS.length] ?? 0;
}

type Step = readonly [
  kind: 'add' | 'edit' | 'rewrite' | 'clear' | 'pack',
  places: readonly number[],
];

const ARBITRARY_STEP: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom('add', 'add', 'edit', 'edit', 'rewrite', 'clear', 'pack', 'pack'),
  fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }),
);

describe('PresentEntries, of tokens', () => {
  it('returns the same as packing all entries, after any changes, counted or not', async () => {
    const property = fc.asyncProperty(
      fc.array(ARBITRARY_STEP, { maxLength: 25 }),
      fc.array(fc.boolean(), { minLength: 25, maxLength: 25 }),
      async (steps, waits) => {
        const history = new HistoryService({
          countEntries: (contents) => Promise.resolve(contents.map(tokensOf)),
        });
        let made = 0;
        for (const [at, [kind, places]] of steps.entries()) {
          if (kind === 'add') history.addAll(places.map(() => entry(made++)));
          else if (kind === 'clear') history.clear();
          else if (kind === 'rewrite') {
            const kept = history.getRawHistory().filter((_, index) => !places.includes(index));
            history.replaceAll([entry(made++), ...kept], history.base);
          } else if (kind === 'edit') {
            const indices = [...new Set(places)].filter((index) => index < history.length);
            const removals = indices.filter((index) => index % 2 === 0).sort((a, b) => a - b);
            const replaced = indices.filter((index) => index % 2 === 1);
            const replacements = new Map(replaced.map((index) => [index, entry(made++)]));
            await history.applyDensityResult({ ...NO_EDITS, removals, replacements });
          }
          if (waits[at] === true) await history.waitForTokenUpdates();
          const expected = history.getRawHistory().map((one) => history.countedTokens(one));
          if (kind !== 'add') expect(unpackTokens(pack(history))).toEqual(expected);
        }
        await history.waitForTokenUpdates();
        const expected = history.getRawHistory().map(tokensOf);
        expect(unpackTokens(pack(history))).toEqual(expected);
      },
    );
    await fc.assert(property, { numRuns: runs(2_000) });
  });

  it('does not read packed, unchanged entries again', async () => {
    const history = new HistoryService({
      countEntries: (contents) => Promise.resolve(contents.map(tokensOf)),
    });
    history.addAll(Array.from({ length: 100 }, (_, at) => entry(at)));
    await history.waitForTokenUpdates();
    pack(history);
    const read: IContent[] = [];
    const countedTokens = history.countedTokens.bind(history);
    history.countedTokens = (content) => {
      read.push(content);
      return countedTokens(content);
    };
    history.addAll([entry(100), entry(101)]);
    const replacements = new Map([[98, entry(102)]]);
    await history.applyDensityResult({ ...NO_EDITS, replacements });
    pack(history);
    expect(read).toEqual(history.getRawHistory().slice(98));
  });
});
