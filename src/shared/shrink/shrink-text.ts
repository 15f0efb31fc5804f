// Runs the chain of shrinkers on a result. The caller finds what the session already shows, and keeps the original.

import { isShrunk, markedAsShrunk, partOfRun, withoutRuns } from './shown-before.js';
import { BLOBS } from './blobs.js';
import { Draft, MAX_SCANNED_OF_LINE, saysLeftOut, SHRINK_LEVELS } from './shrinker.js';
import { FAILURES_FIRST, reportsFailure } from './failures-first.js';
import { GROUPING } from './grouped-lines.js';
import { JSON_TABLES } from './json-tables.js';
import { LIKE_LINES } from './like-lines.js';
import { LINE_NUMBERS } from './line-numbers.js';
import { WRITTEN_OUT } from './result-text.js';
import type { ShownElsewhere } from './shown-before.js';
import type { Shrinker, ShrinkerName, ShrinkLevel, ShrinkSubject } from './shrinker.js';
import { TERMINAL_CODES } from './terminal-codes.js';

/** The shrinkers that need only the result and its call, in the order in which they run. */
const TEXT_SHRINKERS: readonly Shrinker[] = [
  TERMINAL_CODES,
  LINE_NUMBERS,
  BLOBS,
  JSON_TABLES,
  LIKE_LINES,
  FAILURES_FIRST,
  GROUPING,
];

/** The names of all shrinkers. */
export const SHRINKER_NAMES: readonly ShrinkerName[] = [
  'shownBefore',
  ...TEXT_SHRINKERS.map(({ name }) => name),
];

/** A level, and overrides that turn single shrinkers on or off. Flat, so that two settings are easy to compare. */
export type ShrinkSettings = { readonly level: ShrinkLevel } & Partial<
  Readonly<Record<ShrinkerName, boolean | undefined>>
>;

/** Minimum length of a result to shrink, in UTF-16 units. */
export const MIN_SHRUNK_LENGTH = 400;
/** Maximum length of a result to shrink, in UTF-16 units: longer ones would occupy the worker for too long. */
const MAX_LENGTH = 8_000_000;

/** Whether the settings let a shrinker run: by its own override, else by the level. */
export function runsShrinker(
  settings: ShrinkSettings,
  { name, from }: Pick<Shrinker, 'name' | 'from'>,
): boolean {
  const isSet = settings[name];
  return isSet ?? isAtLeast(settings.level, from);
}

function isAtLeast(level: ShrinkLevel, mildest: ShrinkLevel): boolean {
  return SHRINK_LEVELS.indexOf(level) >= SHRINK_LEVELS.indexOf(mildest);
}

/** What is known about a result and its call. */
export interface ShrunkCall {
  /** If there is none, the text is that of a file, and only shrinkers with `keepsText` run. */
  readonly purpose: ShrinkSubject['purpose'] | undefined;
  readonly command: string;
  /** The result as the model is sent it if it is not shrunk. @default the text */
  readonly payload?: string;
}

/** What shrinkers leave of a text. */
export interface ShortenedText {
  readonly draft: Draft;
  /** Labels of what they removed. */
  readonly removed: readonly string[];
  /** Whether all its text, or all values of its JSON, are left. */
  readonly isWhole: boolean;
}

/**
 * Runs the shrinkers on a text; it stays whole if they save too little. Pure, and linear in its length.
 *
 * @param text the result as shrinkers see it; see `resultText`
 * @param ending see `placeholderEnding`
 */
export function shortenedText(
  text: string,
  call: ShrunkCall,
  settings: ShrinkSettings,
  ending: string,
): ShortenedText {
  const { purpose, command, payload = text } = call;
  const seen = Draft.ofText(text);
  const whole = { draft: seen, removed: text === payload ? [] : [WRITTEN_OUT], isWhole: true };
  if (payload.length < MIN_SHRUNK_LENGTH || text.length > MAX_LENGTH || isShrunk(text)) {
    return whole;
  }
  let { draft, isWhole } = whole;
  const removed = [...whole.removed];
  const lookalikes = new Set(seen.lines.filter(saysLeftOut));
  const subject = { purpose: purpose ?? 'unknown', command, lookalikes };
  for (const shrinker of TEXT_SHRINKERS) {
    const { keepsText = false, keepsValues = false } = shrinker;
    if ((purpose === undefined && !keepsText) || !runsShrinker(settings, shrinker)) continue;
    // A shrinker that is turned on by name below its minimum level runs at that minimum.
    const level = isAtLeast(settings.level, shrinker.from) ? settings.level : shrinker.from;
    const shorter = shrinker.shrink(draft, { ...subject, level });
    if (shorter === undefined) continue;
    draft = shorter;
    removed.push(shrinker.label);
    isWhole &&= keepsText || keepsValues;
    if (keepsValues) break;
  }
  const isShorter = markedAsShrunk(draft.text, payload, removed, ending) !== undefined;
  return isShorter ? { draft, removed, isWhole } : whole;
}

/**
 * Replaces lines of a shortened text that the session already shows elsewhere. Returns the shrunk result, whose last line says that it
 * was shrunk and how to get the original; `undefined` if too little is saved.
 *
 * @param runs the lines of the shortened text that are shown elsewhere
 * @param ending see `placeholderEnding`
 */
export function withReferences(
  text: string,
  { draft, removed }: ShortenedText,
  runs: readonly ShownElsewhere[],
  { purpose, payload = text }: ShrunkCall,
  ending: string,
): string | undefined {
  const shown = purpose === 'command' ? withoutFailures(draft, runs) : runs;
  const { draft: left, label } = withoutRuns(draft, shown) ?? { draft, label: undefined };
  const labels = label === undefined ? removed : [...removed, label];
  return markedAsShrunk(left.text, payload, labels, ending);
}

/** Maximum number of a command's lines about failures that are shown again. */
const MAX_FAILURES = 12;

/** Splits runs at lines that report a failure, which are shown again: a command is rerun to see whether it still fails. */
function withoutFailures(
  { lines }: Draft,
  runs: readonly ShownElsewhere[],
): readonly ShownElsewhere[] {
  let failures = 0;
  return runs.flatMap((run) => {
    const parts: ShownElsewhere[] = [];
    let { start } = run;
    for (let at = start; at <= run.end; at += 1) {
      const isEnd = at === run.end || failures === MAX_FAILURES;
      if (!isEnd && !reportsFailure((lines[at] ?? '').slice(0, MAX_SCANNED_OF_LINE))) continue;
      const end = isEnd ? run.end : at;
      parts.push(...partOfRun(run, start, end));
      if (isEnd) break;
      failures += 1;
      start = at + 1;
    }
    return parts;
  });
}
