// Runs the chain of shrinkers on a result. The caller finds what the session already shows, and keeps the original.

import { isShrunk, markedAsShrunk, partOfRun, withoutRuns } from './shown-before.js';
import { BLOBS } from './blobs.js';
import { Draft, MAX_SCANNED_OF_LINE, saysLeftOut, SHRINK_LEVELS } from './shrinker.js';
import { FAILURES_FIRST, mayReportFailure, reportsFailure } from './failures-first.js';
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

/**
 * Returns a shrunk result, whose last line says that it was shrunk and how to get the original; `undefined` if too little can be
 * saved. Pure, and linear in the length of the text.
 *
 * @param text the result as shrinkers see it; see `resultText`
 * @param runs lines of the text that the session already shows elsewhere
 * @param call if it has no purpose, the text is that of a file, and only shrinkers with `keepsText` run
 * @param ending see `placeholderEnding`
 */
export function shrinkText(
  text: string,
  runs: readonly ShownElsewhere[],
  call: ShrunkCall,
  settings: ShrinkSettings,
  ending: string,
): string | undefined {
  const { payload = text, purpose, before } = call;
  if (!mayBeShrunk(text, payload)) return undefined;
  const whole = Draft.ofText(text);
  const shown = purpose === 'command' ? withoutFailures(whole, runs) : runs;
  const withoutShown = withoutRuns(whole, shown);
  const removed = [...(before ?? (text === payload ? [] : [WRITTEN_OUT]))];
  if (withoutShown !== undefined) removed.push(withoutShown.label);
  const draft = withoutShown?.draft ?? whole;
  const left = before === undefined ? runShrinkers(draft, whole, call, settings, removed) : draft;
  return removed.length === 0 ? undefined : markedAsShrunk(left.text, payload, removed, ending);
}

/** What shrinkers leave of a text, and the labels of what they removed. */
export interface ShortenedText {
  readonly text: string;
  readonly removed: readonly string[];
}

/** Runs the shrinkers on a text without replacing lines that are shown elsewhere. Pure, and linear in the length of the text. */
export function shrinkWithoutReferences(
  text: string,
  call: ShrunkCall,
  settings: ShrinkSettings,
): ShortenedText {
  const { payload = text } = call;
  if (!mayBeShrunk(text, payload)) return { text, removed: [] };
  const whole = Draft.ofText(text);
  const removed = text === payload ? [] : [WRITTEN_OUT];
  return { text: runShrinkers(whole, whole, call, settings, removed).text, removed };
}

function mayBeShrunk(text: string, payload: string): boolean {
  return payload.length >= MIN_SHRUNK_LENGTH && text.length <= MAX_LENGTH && !isShrunk(text);
}

/** Runs the shrinkers on a draft of a text. @param removed receives the labels of those that removed something */
function runShrinkers(
  given: Draft,
  whole: Draft,
  { purpose, command }: ShrunkCall,
  settings: ShrinkSettings,
  removed: string[],
): Draft {
  let draft = given;
  const hasNotes = whole.text.includes('[… ');
  const lookalikes = hasNotes ? new Set(whole.lines.filter(saysLeftOut)) : undefined;
  const seen = { purpose: purpose ?? 'unknown', command, ...(lookalikes && { lookalikes }) };
  for (const shrinker of TEXT_SHRINKERS) {
    const sees = purpose !== undefined || shrinker.keepsText === true;
    if (!sees || !runsShrinker(settings, shrinker)) continue;
    // A shrinker that is turned on by name below its minimum level runs at that minimum.
    const level = isAtLeast(settings.level, shrinker.from) ? settings.level : shrinker.from;
    const shorter = shrinker.shrink(draft, { ...seen, level });
    if (shorter === undefined) continue;
    draft = shorter;
    removed.push(shrinker.label);
    if (shrinker.isFinal === true) break;
  }
  return draft;
}

/** Maximum number of a command's lines about failures that are shown again. */
const MAX_FAILURES = 12;

/** Splits runs at lines that report a failure, which are shown again: a command is rerun to see whether it still fails. */
function withoutFailures(
  { text, lines }: Draft,
  runs: readonly ShownElsewhere[],
): readonly ShownElsewhere[] {
  if (runs.length === 0 || !mayReportFailure(text)) return runs;
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

/** What is known about a result and its call. */
export type ShrunkCall = Pick<ShrinkSubject, 'command'> & {
  /** The result as the model is sent it if it is not shrunk. @default the text */
  readonly payload?: string;
  readonly purpose: ShrinkSubject['purpose'] | undefined;
  /** Labels of what shrinkers already removed from the text; if set, the shrinkers do not run again. */
  readonly before?: readonly string[] | undefined;
};
