// How long counting takes on text that was made to be slow to count, and whether its counts are right.

import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { BytePairCounter } from '../../src/shared/tokens/byte-pair-counter.js';
import type { CountText } from '../../src/shared/tokens/count-tokens.js';
import { pieces } from '../../src/shared/tokens/pieces.js';
import { arrangeTokens } from '../../src/shared/tokens/token-table.js';
import { check } from './check.js';
import { HOSTILE_TEXTS } from './hostile-texts.js';
import type { Goal, Measurement, ScopeResult } from './measurement.js';
import { median } from './timing.js';

const LENGTH = 20_000;
const TIMES_LONGER = 4;
const RUNS = 5;
const BYTES = 100_000;
/** The library merges a word in quadratic time, and checks no more than this. */
const CHECKED_LENGTH = 2_000;
/** What cutting a text without breaks may add to its count. */
const MAX_DEVIATION = 0.02;

/** Texts have no entries: their figures stand in the column of histories of this length. */
export function measureHostile(entries: number): ScopeResult {
  const { count } = new BytePairCounter(arrangeTokens(tokens));
  const measurements: Measurement[] = [];
  let slowest = 0;
  let steepest = 0;
  const texts = Object.entries(HOSTILE_TEXTS);
  // All of them first, for the compiler to have seen every sort of word before times are taken.
  for (const [name, make] of texts) {
    checkCounts(name, make(CHECKED_LENGTH), count);
    count(make(LENGTH));
  }
  for (const [name, make] of texts) {
    const value = msPerBytes(make(LENGTH), count);
    const longer = msPerBytes(make(LENGTH * TIMES_LONGER), count);
    slowest = Math.max(slowest, value, longer);
    steepest = Math.max(steepest, longer / value);
    measurements.push({
      ...{ scope: 'counting', name: `count 100 kB: ${name}`, entries },
      ...{ value, unit: 'ms', runs: RUNS },
    });
  }
  const goals: Goal[] = [
    { name: 'count 100 kB of the slowest text, ms', value: slowest, limit: 50 },
    { name: `a byte of ${TIMES_LONGER} times the text, for one`, value: steepest, limit: 2 },
  ];
  return { measurements, goals };
}

/** Processor time, for the limit is one of milliseconds and others may be using the machine. */
function msPerBytes(text: string, count: CountText): number {
  count(text);
  const runs = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    count(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return (median(runs) / Buffer.byteLength(text)) * BYTES;
}

/** Pieces count as the library counts them, and the whole hardly less than they do together. */
function checkCounts(name: string, text: string, count: CountText): void {
  const options = { disallowedSpecial: new Set<string>() };
  let inPieces = 0;
  for (const piece of pieces(text)) {
    const expected = countTokens(piece, options);
    // The library finds no token that has a byte order mark.
    check(count(piece) === expected || piece.includes('\ufeff'), `a piece of ${name}`);
    inPieces += expected;
  }
  const deviation = Math.abs(inPieces / countTokens(text, options) - 1);
  check(deviation <= MAX_DEVIATION, `${name}, cut, is off by ${deviation}`);
}
