// The o200k counters from the registry, each in its fastest configuration: no search for special tokens, word cache on where
// there is one. Tests check ours against tiktoken; the others may deviate.

import AiTokenizer from 'ai-tokenizer';
import * as aiO200k from 'ai-tokenizer/encoding/o200k_base';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { clearMergeCache, countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { getEncoding } from 'js-tiktoken';
import { get_encoding } from 'tiktoken';
import { BytePairCounter } from '../../src/shared/tokens/byte-pair-counter.js';
import type { CountText } from '../../src/shared/tokens/count-tokens.js';
import { arrangeTokens } from './arrange-tokens.js';

/** Makes a fresh counter. */
export type MakeCounter = () => CountText;

/** The names of our counter and of the reference. */
export const OURS = 'ctxfold';
export const REFERENCE = 'tiktoken';

/** Counters by package name. */
export function tokenCounters(): ReadonlyMap<string, MakeCounter> {
  const arranged = arrangeTokens(tokens);
  const reference = get_encoding('o200k_base');
  const js = getEncoding('o200k_base');
  const options = { disallowedSpecial: new Set<string>() };
  return new Map<string, MakeCounter>([
    [OURS, () => new BytePairCounter(arranged).count],
    [
      'gpt-tokenizer',
      () => {
        clearMergeCache();
        return (text) => countTokens(text, options);
      },
    ],
    [
      'ai-tokenizer',
      () => {
        const tokenizer = new AiTokenizer(aiO200k);
        return (text) => tokenizer.encode(text, 'all').length;
      },
    ],
    [REFERENCE, () => (text) => reference.encode_ordinary(text).length],
    ['js-tiktoken', () => (text) => js.encode(text, [], []).length],
  ]);
}
