// Plays the chain of shrinkers over one result: which there are, in which order, and when it is worth it. Decides
// nothing about what was sent; whoever calls this keeps the original.

import { isShrunk, markedAsShrunk, withoutRuns } from './shown-before.js';
import { BLOBS } from './blobs.js';
import { Draft, SHRINK_LEVELS } from './shrinker.js';
import { FAILURES_FIRST } from './failures-first.js';
import { GROUPING } from './grouped-lines.js';
import { JSON_TABLES } from './json-tables.js';
import { LIKE_LINES } from './like-lines.js';
import { LINE_NUMBERS } from './line-numbers.js';
import type { ShownElsewhere } from './shown-before.js';
import type { Shrinker, ShrinkLevel, ShrinkSubject } from './shrinker.js';
import { TERMINAL_CODES } from './terminal-codes.js';

/** The name of a shrinker, by which it is switched. */
export type ShrinkerName =
  | 'shownBefore'
  | 'lineNumbers'
  | 'terminalCodes'
  | 'jsonTables'
  | 'likeLines'
  | 'failuresFirst'
  | 'grouping'
  | 'blobs';

/** What looks at a result by itself, in the order in which it runs. */
const TEXT_SHRINKERS: readonly Shrinker<ShrinkerName>[] = [
  TERMINAL_CODES,
  LINE_NUMBERS,
  JSON_TABLES,
  LIKE_LINES,
  FAILURES_FIRST,
  GROUPING,
  BLOBS,
];

/** The names of all shrinkers. */
export const SHRINKER_NAMES: readonly ShrinkerName[] = [
  'shownBefore',
  ...TEXT_SHRINKERS.map(({ name }) => name),
];

/** What results are shrunk by: a level, and the shrinkers that are off. Flat, so that two of them can be compared. */
export type ShrinkSettings = { readonly level: ShrinkLevel } & Partial<
  Readonly<Record<ShrinkerName, boolean | undefined>>
>;

/** Shorter results stay as they are. In UTF-16 units. */
export const MIN_SHRUNK_LENGTH = 400;
/** Longer results are no text for a model, and would hold up the worker. */
const MAX_LENGTH = 8_000_000;

/** Whether a shrinker runs. */
export function runsShrinker(
  settings: ShrinkSettings,
  { name, from }: Pick<Shrinker<ShrinkerName>, 'name' | 'from'>,
): boolean {
  const isSet = settings[name];
  return isSet ?? isAtLeast(settings.level, from);
}

function isAtLeast(level: ShrinkLevel, mildest: ShrinkLevel): boolean {
  return SHRINK_LEVELS.indexOf(level) >= SHRINK_LEVELS.indexOf(mildest);
}

/**
 * Returns what is made of a result, with a last line that says so and names the original; `undefined` when it is not
 * worth it. Pure, and linear in the text.
 *
 * @param runs lines of it that the session shows already
 * @param call without a purpose only what leaves the text of a file runs: an edit could need what the others take
 * @param ending see `placeholderEnding`
 */
export function shrinkText(
  text: string,
  runs: readonly ShownElsewhere[],
  { purpose, command }: ShrunkCall,
  settings: ShrinkSettings,
  ending: string,
): string | undefined {
  if (text.length < MIN_SHRUNK_LENGTH || text.length > MAX_LENGTH || isShrunk(text)) {
    return undefined;
  }
  const took: string[] = [];
  const withoutShown = withoutRuns(Draft.ofText(text), runs);
  if (withoutShown !== undefined) took.push('lines shown above');
  let draft = withoutShown ?? Draft.ofText(text);
  for (const shrinker of TEXT_SHRINKERS) {
    const sees = purpose !== undefined || shrinker.leavesText === true;
    if (!sees || !runsShrinker(settings, shrinker)) continue;
    // One that is switched on by name runs at its mildest.
    const level = isAtLeast(settings.level, shrinker.from) ? settings.level : shrinker.from;
    const shorter = shrinker.shrink(draft, { purpose: purpose ?? 'unknown', command, level });
    if (shorter === undefined) continue;
    draft = shorter;
    took.push(shrinker.says);
    if (shrinker.isFinal === true) break;
  }
  return took.length === 0 ? undefined : markedAsShrunk(draft.text, text, took, ending);
}

/** What is to know of the call of a result. */
export type ShrunkCall = Pick<ShrinkSubject, 'command'> & {
  readonly purpose: ShrinkSubject['purpose'] | undefined;
};
