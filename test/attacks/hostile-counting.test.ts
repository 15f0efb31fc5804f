// Texts made to block a counting thread: a single word of any length, whose parts merge again and again. An encoder that
// checks all pairs for each merge takes minutes for 100 kB, and all sessions of a process share the thread.

import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../../bench/support/hostile-texts.js';
import { BytePairCounter } from '../../src/shared/tokens/byte-pair-counter.js';
import { BytePairMerger } from '../../src/shared/tokens/byte-pair-merger.js';
import { TokenTable } from '../../src/shared/tokens/token-table.js';
import { arrangeTokens } from '../../bench/support/arrange-tokens.js';

const arranged = arrangeTokens(tokens);
const LENGTH = 6_000;
const FACTOR = 4;
const MAX_OVER_LINEAR = 1.05;
/** One lookup for two initial bytes and two for each merge, plus a quarter where windows overlap. */
const MAX_LOOKUPS_PER_BYTE = 4;

/** Counts its lookups. */
class CountingTable extends TokenTable {
  lookups = 0;

  override rankOf(bytes: Uint8Array, start: number, end: number): number {
    this.lookups += 1;
    return super.rankOf(bytes, start, end);
  }

  override rankOfPair(bytes: Uint8Array, at: number): number {
    this.lookups += 1;
    return super.rankOfPair(bytes, at);
  }
}

function lookupsOf(bytes: Uint8Array): number {
  const table = new CountingTable(arranged);
  new BytePairMerger(table).countTokens(bytes, 0, bytes.length);
  return table.lookups;
}

describe('BytePairMerger', () => {
  test.each(Object.entries(HOSTILE_TEXTS))(
    'merges %s, as one word, in linear time',
    (_name, make) => {
      const [short, long] = [Buffer.from(make(LENGTH)), Buffer.from(make(LENGTH * FACTOR))];
      const perByte = lookupsOf(short) / short.length;
      expect(perByte).toBeLessThan(MAX_LOOKUPS_PER_BYTE);
      expect(lookupsOf(long) / long.length).toBeLessThan(perByte * MAX_OVER_LINEAR);
    },
  );
});

describe('BytePairCounter', () => {
  test('counts a word of a quarter of a megabyte, and the text behind it', () => {
    const { count } = new BytePairCounter(arranged);
    const length = 2 ** 18;
    // Eight letters are one token.
    expect(count('a'.repeat(length))).toBe(length / 8);
    expect(count(`${'a'.repeat(length)} b c`)).toBe(length / 8 + 2);
  });
});
