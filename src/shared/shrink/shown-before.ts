// The shrinker `shownBefore`: replaces lines that an earlier result shows unchanged; the history index finds those lines.
// Writes and parses the references and the final mark of shrunk results, and reads line numbers at the start of lines.

import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

/** Not part of the chain of shrinkers, because it needs the history. */
export const SHOWN_BEFORE_SHRINKER: Pick<Shrinker, 'name' | 'from'> = {
  name: 'shownBefore',
  from: 'lossless',
};

/** Shorter runs are not worth a replacement. In UTF-16 units. */
export const MIN_RUN = 120;
/** A run must be at least this many times as long as its reference, because following the reference costs the reader effort. */
const MIN_TIMES = 1.5;

/** Worded so that it stays true whatever happens to the earlier result. */
const SAME_AS = 'unchanged from the result of ';
const SHOWN_BY_CALL = 'unchanged, as its call has them';
const SOURCE = /unchanged from the result of ([\w.#-]{1,64})/;
const SOURCES = /lines of earlier results \(([\w.#-]{1,64}(?:, [\w.#-]{1,64})*)\)/;
const ID = /^[\w.#-]{1,64}$/;
/** A result refers to at most this many others, so that the line that names them stays short. */
const MAX_SOURCES = 8;

/** Whether a reference can contain this call id. */
export function canBeReferenced(callId: string): boolean {
  return ID.test(callId);
}

/** Says which call's result shows the omitted text. */
export function shownBefore(callId: string): string {
  return `${SAME_AS}${callId}`;
}

/** The ids of the calls that a result refers to for omitted lines, separated by spaces; empty if it refers to none. */
export function sourceIdsOf(result: unknown): string {
  if (typeof result !== 'string' || !result.endsWith(']')) return '';
  if (result.startsWith('[') && !result.includes('\n')) return SOURCE.exec(result)?.[1] ?? '';
  const [mark] = MARK.exec(result.slice(-MAX_MARK_LENGTH)) ?? [''];
  return SOURCES.exec(mark)?.[1]?.replaceAll(', ', ' ') ?? '';
}

/** The call of an earlier result. Some models never see call ids, so references to lines use the call's name. */
export interface Source {
  readonly callId: string;
  /** Its tool and key parameter. */
  readonly name: string;
}

/** A run of lines, by index, that an earlier result or the arguments of the own call also show. `end` is exclusive. */
export interface ShownElsewhere {
  readonly start: number;
  readonly end: number;
  /** `null` for its own call. */
  readonly source: Source | null;
  /** Line number of the first line in the source, `null` if unnumbered; absent if numbered the same, or unnumbered in both. */
  readonly sourceNumber?: number | null;
}

/** The call whose result shows the whole text, in the same place and with the same numbers; `undefined` if there is none. */
export function sourceOfAll({ lines }: Draft, runs: readonly ShownElsewhere[]): Source | undefined {
  const [first] = runs;
  if (runs.length !== 1 || first?.start !== 0 || first.source === null) return undefined;
  return first.sourceNumber === undefined && first.end === lines.length ? first.source : undefined;
}

/** The part of a run from line `first` to `last` (exclusive), as a list of one; empty if they do not overlap. */
export function partOfRun(
  run: ShownElsewhere,
  first: number,
  last: number,
): readonly ShownElsewhere[] {
  const [start, end] = [Math.max(run.start, first), Math.min(run.end, last)];
  if (start >= end) return [];
  const { sourceNumber } = run;
  const skipped = start - run.start;
  const from = typeof sourceNumber === 'number' && { sourceNumber: sourceNumber + skipped };
  return [{ ...run, start, end, ...from }];
}

/** Merges into `runs` the parts of `others` that they do not cover. Both lists must be ascending and disjoint. */
export function withOthers(
  runs: readonly ShownElsewhere[],
  others: readonly ShownElsewhere[],
): readonly ShownElsewhere[] {
  const all: ShownElsewhere[] = [];
  let next = 0;
  for (const other of others) {
    let { start } = other;
    for (let run = runs[next]; run !== undefined && run.start < other.end; run = runs[next]) {
      all.push(...partOfRun(other, start, run.start));
      start = Math.max(start, run.end);
      // A run that extends beyond this one may overlap the next one too.
      if (run.end > other.end) break;
      all.push(run);
      next += 1;
    }
    all.push(...partOfRun(other, start, other.end));
  }
  return [...all, ...runs.slice(next)];
}

/** A text whose lines that are shown elsewhere were replaced by references. */
export interface WithoutRuns {
  readonly draft: Draft;
  /** Says which lines were removed, with the ids of the calls whose results show them. */
  readonly label: string;
}

/** Replaces each run that is long enough by a reference of one line; returns `undefined` if no run is. */
export function withoutRuns(
  draft: Draft,
  runs: readonly ShownElsewhere[],
): WithoutRuns | undefined {
  const { lines } = draft;
  const kept: string[] = [];
  const ids = new Set<string>();
  let from = 0;
  for (const run of runs) {
    const { start, end, source } = run;
    const isNamed = source === null || ids.has(source.callId);
    if (!isNamed && ids.size === MAX_SOURCES) continue;
    const reference = `[… ${referenceText(run, lines)} …]`;
    let length = end - start;
    for (let at = start; at < end; at += 1) length += lines[at]?.length ?? 0;
    if (length < Math.max(MIN_RUN, MIN_TIMES * reference.length)) continue;
    if (source !== null) ids.add(source.callId);
    for (let at = from; at < start; at += 1) kept.push(lines[at] ?? '');
    kept.push(reference);
    from = end;
  }
  if (from === 0) return undefined;
  for (let at = from; at < lines.length; at += 1) kept.push(lines[at] ?? '');
  const of = ids.size === 0 ? 'its call' : `earlier results (${[...ids].join(', ')})`;
  return { draft: Draft.ofLines(kept), label: `lines of ${of}` };
}

const SHOWN = /^\[… (?:\d+ lines|lines \d+-\d+) (?:as in|unchanged,) .* …\]$/;

/** Whether a line is a reference that `withoutRuns` wrote. */
export function isReference(line: string): boolean {
  return SHOWN.test(line);
}

/** Describes a run; states both line numbers if they differ. */
function referenceText(run: ShownElsewhere, lines: readonly string[]): string {
  const { start, end, source, sourceNumber } = run;
  const count = end - start;
  const shown = source === null ? SHOWN_BY_CALL : `as in ${source.name}`;
  if (sourceNumber === undefined) return `${count} lines ${shown}`;
  const here = lineNumberAt(lines[start] ?? '', 0);
  const isNumbered = lineNumberAt(lines[end - 1] ?? '', 0) === here + count - 1;
  const which = isNumbered ? `lines ${here}-${here + count - 1}` : `${count} lines`;
  const numbering =
    sourceNumber === null ? 'without numbers' : `lines ${sourceNumber}-${sourceNumber + count - 1}`;
  return `${which} ${shown}, there ${numbering}`;
}

/** Results that would shrink by less than either threshold stay whole. In UTF-16 units, and as a share of the result. */
const MIN_GAIN = 60;
const MIN_GAIN_SHARE = 0.03;

const MAX_MARK_LENGTH = 1_400;
const MARK_START = '[Shortened from ';
const MARK = /\n\[Shortened from (\d+) characters: [^\n]{0,1240}\]$/;

/** Whether a text is a shrunk result. Such results are not shrunk again. */
export function isShrunk(text: string): boolean {
  return originalLength(text) !== undefined;
}

/** The length of a shrunk result's original, in UTF-16 units; `undefined` for any other text. */
export function originalLength(text: string): number | undefined {
  const [, length] = MARK.exec(text.slice(-MAX_MARK_LENGTH)) ?? [];
  return length === undefined ? undefined : Number(length);
}

/** Strips the mark from a shrunk result; returns any other text unchanged. */
export function withoutMark(text: string): string {
  return isShrunk(text) ? text.slice(0, text.lastIndexOf(`\n${MARK_START}`)) : text;
}

/**
 * Adds the line that marks a shrunk result; returns `undefined` if too little was saved.
 *
 * @param removed labels of what was removed
 * @param ending see `placeholderEnding`
 */
export function markedAsShrunk(
  left: string,
  text: string,
  removed: readonly string[],
  ending: string,
): string | undefined {
  const marked = `${left}\n${MARK_START}${text.length} characters: ${removed.join(', ')}${ending}`;
  const gain = text.length - marked.length;
  return gain >= Math.max(MIN_GAIN, MIN_GAIN_SHARE * text.length) ? marked : undefined;
}

const SPACE = 0x20;
/** What may separate a line number from its line: a tab, an arrow, a colon or a bar. */
const SEPARATORS: ReadonlySet<number> = new Set([0x09, 0x2192, 0x3a, 0x7c]);
const [ZERO, NINE] = [0x30, 0x39];

const MAX_PADDING = 12;
const MAX_DIGITS = 9;
/** Fewer consecutive numbers may be data rather than line numbers. */
export const MIN_NUMBERED_LINES = 4;

/** The end (exclusive) of a line number and its separator (tab, arrow, colon, bar, or ` | `); -1 if there is none at `at`. */
export function endOfNumber(text: string, at: number): number {
  const digits = digitsAt(text, at);
  const end = endOfDigits(text, digits);
  if (end === digits) return -1;
  if (SEPARATORS.has(text.charCodeAt(end))) return end + 1;
  return text.startsWith(' | ', end) ? end + 3 : -1;
}

/** The line number at `at`, or NaN. */
export function lineNumberAt(text: string, at: number): number {
  if (endOfNumber(text, at) === -1) return NaN;
  const digits = digitsAt(text, at);
  return Number(text.slice(digits, endOfDigits(text, digits)));
}

/** The end of the spaces at `at`, at most `MAX_PADDING`. */
function digitsAt(text: string, at: number): number {
  let digits = at;
  while (digits - at < MAX_PADDING && text.charCodeAt(digits) === SPACE) digits += 1;
  return digits;
}

/** The end of at most `MAX_DIGITS` digits from `start` on. */
function endOfDigits(text: string, start: number): number {
  let end = start;
  for (; end - start < MAX_DIGITS; end += 1) {
    const code = text.charCodeAt(end);
    // `charCodeAt` returns NaN beyond the end.
    if (!(code >= ZERO && code <= NINE)) break;
  }
  return end;
}
