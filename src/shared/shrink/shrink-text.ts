// Plays the chain of shrinkers over one result: which there are, in which order, and when it is worth it. Decides
// nothing about what was sent; whoever calls this keeps the original.

import type { PlaceholderForm } from '../density.js';
import { placeholderEnding } from '../placeholder.js';
import { BLOBS } from './blobs.js';
import { Draft } from './draft.js';
import { FAILURES_FIRST } from './failures-first.js';
import { GROUPING } from './grouped-lines.js';
import { JSON_TABLES } from './json-tables.js';
import { LIKE_LINES } from './like-lines.js';
import { SHRINK_LEVELS } from './shrinker.js';
import type { Shrinker, ShrinkLevel, ShrinkSubject } from './shrinker.js';
import { TERMINAL_CODES } from './terminal-codes.js';

/** The name of what tells a result that the session shows already. It needs the others, and so the history. */
export const SHOWN_BEFORE = 'shownBefore';

/** The name of a shrinker, by which it is switched. */
export type ShrinkerName =
  | typeof SHOWN_BEFORE
  | 'terminalCodes'
  | 'jsonTables'
  | 'likeLines'
  | 'failuresFirst'
  | 'grouping'
  | 'blobs';

/** What looks at a result by itself, in the order in which it runs. */
const TEXT_SHRINKERS: readonly Shrinker<ShrinkerName>[] = [
  TERMINAL_CODES,
  JSON_TABLES,
  LIKE_LINES,
  FAILURES_FIRST,
  GROUPING,
  BLOBS,
];

/** The names of all shrinkers. */
export const SHRINKER_NAMES: readonly ShrinkerName[] = [
  SHOWN_BEFORE,
  ...TEXT_SHRINKERS.map(({ name }) => name),
];

/** What results are shrunk by: a level, and the shrinkers that are off. Flat, so that two of them can be compared. */
export type ShrinkSettings = { readonly level: ShrinkLevel } & Partial<
  Readonly<Record<ShrinkerName, boolean | undefined>>
>;

/** Shorter results stay as they are, and so does one that would lose less than this. In UTF-16 units. */
export const MIN_SHRUNK_LENGTH = 600;
const MIN_GAIN = 120;
const MIN_GAIN_SHARE = 0.04;
/** Longer results are no text for a model, and would hold up the worker. */
const MAX_LENGTH = 8_000_000;

const MAX_MARK_LENGTH = 800;
const MARK_START = '[Shortened before it was sent, from ';
const MARK = /\n\[Shortened before it was sent, from \d+ characters: [^\n]{0,640}\]$/;

/** Whether a text is what the chain made of a result: it is left alone. */
export function isShrunk(text: string): boolean {
  if (!text.endsWith(']')) return false;
  return MARK.test(text.slice(-MAX_MARK_LENGTH));
}

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
 * Returns what the chain makes of a result, with a last line that says so and names the original; `undefined` when it is
 * not worth it. Pure, and linear in the text.
 *
 * @param callId the call that the result answers
 */
export function shrinkText(
  text: string,
  call: Omit<ShrinkSubject, 'level'>,
  settings: ShrinkSettings,
  callId: string,
  form: PlaceholderForm,
): string | undefined {
  if (text.length < MIN_SHRUNK_LENGTH || text.length > MAX_LENGTH || isShrunk(text)) {
    return undefined;
  }
  const took: string[] = [];
  let draft = Draft.ofText(text);
  for (const shrinker of TEXT_SHRINKERS) {
    if (!runsShrinker(settings, shrinker)) continue;
    // One that is switched on by name runs at its mildest.
    const level = isAtLeast(settings.level, shrinker.from) ? settings.level : shrinker.from;
    const shorter = shrinker.shrink(draft, { ...call, level });
    if (shorter === undefined) continue;
    draft = shorter;
    took.push(shrinker.says);
    if (shrinker.isFinal === true) break;
  }
  if (took.length === 0) return undefined;
  const marked = `${draft.text}\n${MARK_START}${text.length} characters: ${took.join(', ')}${placeholderEnding(callId, form)}`;
  const gain = text.length - marked.length;
  return gain >= Math.max(MIN_GAIN, MIN_GAIN_SHARE * text.length) ? marked : undefined;
}
