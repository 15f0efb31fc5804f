// The counters on top of gpt-tokenizer's modules: that they agree, and that memory stays bounded.

import * as tokenModule from 'gpt-tokenizer/bpeRanks/o200k_base';
import * as encoding from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { createPieceCounter } from '../../../src/shared/tokens/piece-counter.js';

describe('createPieceCounter', () => {
  test('counts the same with the tokens as with the encoder', () => {
    const own = createPieceCounter(tokenModule);
    const theirs = createPieceCounter(encoding);
    for (const text of ['', 'function count() {}', 'Съешь ещё', '<|endoftext|>', '\ud800漢字']) {
      expect(own.count(text)).toBe(theirs.count(text));
    }
    own.release();
    theirs.release();
  });

  test('keeps the memory of the encoding small and forgets on release', () => {
    const calls: string[] = [];
    const { release } = createPieceCounter({
      countTokens: () => 0,
      setMergeCacheSize: (size) => calls.push(`size ${size}`),
      clearMergeCache: () => calls.push('clear'),
    });
    release();
    expect(calls).toEqual(['size 4096', 'clear']);
  });
});
