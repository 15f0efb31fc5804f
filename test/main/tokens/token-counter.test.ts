// Where counts come from, by kind of tokenizer.

import { describe, expect, it, vi } from 'vitest';

import { InlineOffload } from '../../../src/main/offload/inline.js';
import { createCountEntries } from '../../../src/main/tokens/token-counter.js';
import { humanText } from '../../../src/shared/content.js';
import { ENTRY_OVERHEAD_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { estimateEntryTokens } from '../../../src/shared/tokens/estimate.js';
import { historyOf } from '../../support/notation.js';

const ENTRIES = historyOf('h:one a:r1 t:r1 a:*,% h:"a longer text, with a face 😀"');

describe('createCountEntries', () => {
  it('asks the offload for o200k', async () => {
    const offload = new InlineOffload();
    const countTokens = vi.spyOn(offload, 'countTokens');
    const counts = await createCountEntries('o200k', offload)(ENTRIES, 'model');
    expect(countTokens).toHaveBeenCalledOnce();
    expect(counts).toEqual(await new InlineOffload().countTokens(ENTRIES));
  });

  it('estimates without any offload', async () => {
    const offload = new InlineOffload();
    const countTokens = vi.spyOn(offload, 'countTokens');
    const counts = await createCountEntries('estimate', offload)(ENTRIES, undefined);
    expect(counts).toEqual(ENTRIES.map(estimateEntryTokens));
    expect(countTokens).not.toHaveBeenCalled();
  });

  it("passes a user's counter every piece of text, and the model", async () => {
    const seen: [string, string | undefined][] = [];
    const tokenizer = {
      countTokens: (text: string, modelName: string | undefined) => {
        seen.push([text, modelName]);
        return text.length;
      },
    };
    const count = createCountEntries(tokenizer, new InlineOffload());
    const text = 'word '.repeat(1_000);
    expect(await count([humanText(text)], 'large')).toEqual([5_000 + ENTRY_OVERHEAD_TOKENS]);
    expect(seen.map(([piece]) => piece).join('')).toBe(text);
    expect(Math.max(...seen.map(([piece]) => piece.length))).toBeLessThanOrEqual(512);
    expect(new Set(seen.map(([, modelName]) => modelName))).toEqual(new Set(['large']));
  });

  it("calls a user's counter as a method", async () => {
    class Fixed {
      readonly #tokens = 5;
      countTokens(): number {
        return this.#tokens;
      }
    }
    const count = createCountEntries(new Fixed(), new InlineOffload());
    expect(await count([humanText('x')], undefined)).toEqual([5 + ENTRY_OVERHEAD_TOKENS]);
  });

  it("yields to the event loop while a user's counter works", async () => {
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    setImmediate(turn);
    const count = createCountEntries({ countTokens: () => 1 }, new InlineOffload());
    await count(
      Array.from({ length: 160 }, () => humanText('x')),
      undefined,
    );
    isDone = true;
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  it('refuses a count that is not a number', async () => {
    const tokenizer = { countTokens: () => '7' as unknown as number };
    const count = createCountEntries(tokenizer, new InlineOffload());
    await expect(count([humanText('x')], undefined)).rejects.toMatchObject({
      code: 'TOKEN_COUNT_FAILED',
      message: expect.stringContaining('returned string') as string,
    });
  });

  it("rejects with the error of a user's counter", async () => {
    const tokenizer = {
      countTokens: () => {
        throw new Error('no such model');
      },
    };
    const count = createCountEntries(tokenizer, new InlineOffload());
    await expect(count([humanText('x')], undefined)).rejects.toThrow('no such model');
  });
});
