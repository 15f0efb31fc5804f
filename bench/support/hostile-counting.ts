// The time to count text that was made to be slow to count.

import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { BytePairCounter } from '../../src/shared/tokens/byte-pair-counter.js';
import type { TokenArrays } from '../../src/shared/tokens/token-table.js';
import { HOSTILE_TEXTS } from './hostile-texts.js';
import type { Goal, Measurement, ScopeResult } from './measurement.js';
import { median } from './timing.js';
import { arrangeTokens } from './arrange-tokens.js';

const LENGTH = 20_000;
const TIMES_LONGER = 4;
const RUNS = 5;
const BYTES = 100_000;

/** Reported in the column of histories of this length, since texts have no entries. */
export function measureHostile(entries: number): ScopeResult {
  const arranged = arrangeTokens(tokens);
  const measurements: Measurement[] = [];
  let slowest = 0;
  let steepest = 0;
  const texts = Object.entries(HOSTILE_TEXTS);
  // Warm-up: the compiler has to see every kind of word before anything is measured.
  for (const [, make] of texts) new BytePairCounter(arranged).count(make(LENGTH));
  for (const [name, make] of texts) {
    const value = msPerBytes(make(LENGTH), arranged);
    const longer = msPerBytes(make(LENGTH * TIMES_LONGER), arranged);
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

/** CPU time, because the limit is in milliseconds and other programs may use the machine. */
function msPerBytes(text: string, arranged: TokenArrays): number {
  const runs = Array.from({ length: RUNS }, () => {
    // A fresh counter has no words cached.
    const { count } = new BytePairCounter(arranged);
    const before = process.cpuUsage();
    count(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return (median(runs) / Buffer.byteLength(text)) * BYTES;
}
