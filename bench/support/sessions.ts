// The histories shared by all scopes, made once per length, and sessions that play on them.

import type { IContent } from '../../src/index.js';
import type { DensityConfig } from '../../src/density.js';
import { DEFAULT_DENSITY_CONFIG } from '../../src/density.js';
import { entryCharacters } from '../../src/shared/tokens/estimate.js';
import { generateHistory } from './generate-history.js';

export const CONFIG: DensityConfig = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/w' };

/** A window too large to fill. */
export const ENDLESS_CONTEXT = 1_000_000_000;

/** Entries that follow a history, for the measured turns. */
const FOLLOWING_ENTRIES = 4_000;

const made = new Map<number, readonly IContent[]>();

/** A history of that many entries. */
export function historyOf(entries: number): readonly IContent[] {
  return longHistoryOf(entries).slice(0, entries);
}

/** The entries that follow it. */
export function followingOf(entries: number): readonly IContent[] {
  return longHistoryOf(entries).slice(entries);
}

function longHistoryOf(entries: number): readonly IContent[] {
  const known = made.get(entries);
  if (known !== undefined) return known;
  const history = generateHistory({ entries: entries + FOLLOWING_ENTRIES });
  made.clear();
  made.set(entries, history);
  return history;
}

/** Megabytes of text in a history. */
export function megabytesOf(history: readonly IContent[]): number {
  return history.reduce((sum, entry) => sum + entryCharacters(entry), 0) / 1_000_000;
}

/** Fewer runs for longer work. */
export function runsFor(entries: number, most: number): number {
  return Math.max(5, Math.min(most, Math.round((most * 10_000) / entries)));
}
