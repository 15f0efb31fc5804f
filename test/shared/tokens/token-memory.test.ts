// The memory in which threads leave the tokens for each other.

import { describe, expect, test } from 'vitest';
import { encodeTokenFile } from '../../../scripts/token-file.js';
import { textCounterLoader } from '../../../src/shared/tokens/o200k.js';
import {
  createTokenMemory,
  leaveTokens,
  readTokens,
} from '../../../src/shared/tokens/token-memory.js';
import { arrangeTokens } from '../../../bench/support/arrange-tokens.js';

const WORDS = ['a', 'b', 'ab'];

describe('createTokenMemory', () => {
  test('has nothing until all of it was left, and then the same', () => {
    const memory = createTokenMemory();
    expect(readTokens(memory)).toBeUndefined();
    const tokens = arrangeTokens(WORDS);
    const left = leaveTokens(memory, tokens);
    expect(left).toEqual(tokens);
    expect(left.slots.buffer).toBe(memory);
    expect(readTokens(memory)).toEqual(tokens);
  });

  test('stays as it was where the tokens do not fit', () => {
    const memory = createTokenMemory(32);
    const tokens = arrangeTokens(WORDS);
    expect(leaveTokens(memory, tokens)).toBe(tokens);
    expect(readTokens(memory)).toBeUndefined();
  });

  test('spares a second thread the reading', async () => {
    const memory = createTokenMemory();
    const first = textCounterLoader(
      async () => encodeTokenFile(WORDS),
      () => memory,
    );
    const second = textCounterLoader(
      () => Promise.reject(new Error('It was read again.')),
      () => memory,
    );
    expect((await first()).count('abb')).toBe(2);
    expect((await second()).count('abb')).toBe(2);
  });
});
