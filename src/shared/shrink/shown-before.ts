// The shrinker `shownBefore`: replaces lines that an earlier result shows unchanged, which the index of the history finds.
// Writes and recognizes the replacements and the mark of shrunk results, and reads the line numbers that lines start with.

import { countLines, onOneLine, ordinal, shortened, withoutCodes } from '../shown-text.js';
import { Draft } from './shrinker.js';
import type { Shrinker } from './shrinker.js';

/** Not part of the chain of shrinkers, because it needs the history. */
export const SHOWN_BEFORE_SHRINKER: Pick<Shrinker, 'name' | 'from'> = {
  name: 'shownBefore',
  from: 'lossless',
};

/** Shorter runs are not worth a replacement. In UTF-16 units. */
export const MIN_RUN = 120;
/** Nor are those that are not this many times as long as it: who reads it has to look elsewhere. */
const MIN_TIMES = 1.5;

/** True of the two results, whatever becomes of the earlier one. */
const SAME_AS = 'unchanged from the result of ';
const SHOWN_BY_CALL = 'unchanged, as its call has them';
const SOURCE = /unchanged from the result of ([\w.-]{1,64})/;
const SOURCES = /lines of earlier results \(([\w.-]{1,64}(?:, [\w.-]{1,64})*)\)/;
const ID = /^[\w.-]{1,64}$/;
/** A result refers to at most this many others, so that the line that names them stays short. */
const MAX_SOURCES = 8;

/** Whether a replacement can contain this id. */
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

/** The call of an earlier result. Not every model is shown the ids of calls, so lines are referred to by its name. */
export interface Source {
  readonly callId: string;
  /** Its tool and key parameter. */
  readonly name: string;
  /** What it takes to quote a line of the result, by index: see `FITS`. @default `FITS.only` */
  readonly placeOf?: (line: number) => number;
}

/** Lines of a text, by index, that an earlier result shows, or the arguments of its own call. `end` is exclusive. */
export interface ShownElsewhere {
  readonly start: number;
  readonly end: number;
  /** `null` for its own call. */
  readonly source: Source | null;
  /** The number of the first line there, `null` for none; absent if it is the same as here, or none in both. */
  readonly there?: number | null;
  /** Of lines that are not numbered here and there, and stand where one would not look for them, the index of the first one there. */
  readonly aside?: number;
}

/** The call whose result shows the whole text, if there is one. */
export function sourceOfAll(text: string, runs: readonly ShownElsewhere[]): Source | undefined {
  const [first] = runs;
  if (runs.length !== 1 || first?.start !== 0 || first.source === null) return undefined;
  if (first.there !== undefined || first.aside !== undefined) return undefined;
  return first.end === countLines(text) ? first.source : undefined;
}

/** The part of a run between two lines; none if it has no line there. */
export function partOfRun(
  run: ShownElsewhere,
  first: number,
  last: number,
): readonly ShownElsewhere[] {
  const [start, end] = [Math.max(run.start, first), Math.min(run.end, last)];
  if (start >= end) return [];
  const { there, aside } = run;
  const skipped = start - run.start;
  const from = typeof there === 'number' && { there: there + skipped };
  return [{ ...run, start, end, ...from, ...(aside !== undefined && { aside: aside + skipped }) }];
}

/** Adds the parts of `others` that `runs` do not cover. Both lists ascend without overlaps. */
export function withOthers(
  runs: readonly ShownElsewhere[],
  others: readonly ShownElsewhere[],
): readonly ShownElsewhere[] {
  if (others.length === 0) return runs;
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

/** A text without lines that are shown elsewhere. */
export interface WithoutRuns {
  readonly draft: Draft;
  /** Says what was removed, and names the calls whose results show it. */
  readonly label: string;
}

/** Replaces each run that is long enough by one line; returns `undefined` if none is. */
export function withoutRuns(
  draft: Draft,
  runs: readonly ShownElsewhere[],
): WithoutRuns | undefined {
  if (runs.length === 0) return undefined;
  const { lines } = draft;
  const kept: string[] = [];
  const ids = new Set<string>();
  let from = 0;
  for (const run of runs) {
    const { start, end, source } = run;
    const isNamed = source === null || ids.has(source.callId);
    if (!isNamed && ids.size === MAX_SOURCES) continue;
    const reference = `[… ${whatOf(run, lines)} …]`;
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

/** Whether a line says where lines are shown. */
export function saysShown(line: string): boolean {
  return SHOWN.test(line);
}

/** Describes a run, so that each line can be found; with both line numbers if they differ. */
function whatOf(run: ShownElsewhere, lines: readonly string[]): string {
  const { start, end, source, there, aside } = run;
  const count = end - start;
  const shown = source === null ? SHOWN_BY_CALL : `as in ${source.name}`;
  if (there === undefined) {
    const from = aside === undefined || source === null ? '' : beginningOf(lines, run);
    return `${count} lines ${shown}${from}`;
  }
  const here = lineNumberAt(lines[start] ?? '', 0);
  const isNumbered = lineNumberAt(lines[end - 1] ?? '', 0) === here + count - 1;
  const which = isNumbered ? `lines ${here}-${here + count - 1}` : `${count} lines`;
  const asThere = there === null ? 'without numbers' : `lines ${there}-${there + count - 1}`;
  return `${which} ${shown}, there ${asThere}`;
}

/** How a run without line numbers begins, so that it can be found there: its first line with a word, from that on. */
function beginningOf(
  lines: readonly string[],
  { start, end, aside = 0, source }: ShownElsewhere,
): string {
  for (let at = start; at < end; at += 1) {
    const [words] = /[\p{L}\p{N}].*/u.exec(withoutCodes(lines[at] ?? '')) ?? [];
    if (words === undefined) continue;
    const place = source?.placeOf?.(aside + at - start) ?? FITS.only;
    const length = place === FITS.only ? QUOTED.short : QUOTED.long;
    const which = place > FITS.onlyIfLong ? `the ${ordinal(place - FITS.onlyIfLong)} ` : '';
    return `, from ${which}"${shortened(onOneLine(words), length)}"`;
  }
  return '';
}

/** How much is quoted of a line that begins like no other one there, and at most of any, in UTF-16 units. */
export const QUOTED = { short: 24, long: 64 } as const;
/** What its short quote may fit besides a line: no other one; or its long one does not. Numbers above say which of those lines it is. */
export const FITS = { only: 0, onlyIfLong: 1, most: 255 } as const;

/** A result that would shrink by less is unchanged. In UTF-16 units, and as a share of it. */
const MIN_GAIN = 60;
const MIN_GAIN_SHARE = 0.03;

const MAX_MARK_LENGTH = 1_400;
const MARK_START = '[Shortened from ';
const MARK = /\n\[Shortened from (\d+) characters: [^\n]{0,1240}\]$/;

/** Whether a text is a shrunk result, which is not shrunk again. */
export function isShrunk(text: string): boolean {
  return originalLength(text) !== undefined;
}

/** The characters of the original of a shrunk result; `undefined` of any other text. */
export function originalLength(text: string): number | undefined {
  const [, length] = text.endsWith(']') ? (MARK.exec(text.slice(-MAX_MARK_LENGTH)) ?? []) : [];
  return length === undefined ? undefined : Number(length);
}

/** A shrunk result without the line that says so; any other text as it is. */
export function withoutMark(text: string): string {
  return isShrunk(text) ? text.slice(0, text.lastIndexOf(`\n${MARK_START}`)) : text;
}

/**
 * Adds the line that marks a shrunk result; returns `undefined` if too little was saved.
 *
 * @param took labels of what was removed
 * @param ending see `placeholderEnding`
 */
export function markedAsShrunk(
  left: string,
  text: string,
  took: readonly string[],
  ending: string,
): string | undefined {
  const marked = `${left}\n${MARK_START}${text.length} characters: ${took.join(', ')}${ending}`;
  const gain = text.length - marked.length;
  return gain >= Math.max(MIN_GAIN, MIN_GAIN_SHARE * text.length) ? marked : undefined;
}

/** Characters between a number and its line. */
const TAB = 0x09;
const ARROW = 0x2192;

const SPACE = 0x20;
/** Also those of `grep -n` and editors: colon and bar. */
const SEPARATORS: ReadonlySet<number> = new Set([TAB, ARROW, 0x3a, 0x7c]);
const [ZERO, NINE] = [0x30, 0x39];

const MAX_PADDING = 12;
const MAX_DIGITS = 9;
/** Fewer consecutive numbers may be data. */
export const MIN_NUMBERED_LINES = 4;

/**
 * The number of spaces before a line number, which a tab or an arrow follows; 0 if there is none. Comparisons of lines skip
 * them, because `lineNumbers` may have removed them.
 */
export function paddingOf(text: string, at: number): number {
  if (text.charCodeAt(at) !== SPACE) return 0;
  const digits = digitsAt(text, at);
  const end = endOfDigits(text, digits);
  const next = text.charCodeAt(end);
  return end > digits && (next === TAB || next === ARROW) ? digits - at : 0;
}

/** The end of a line number with its separator (tab, arrow, colon, or bar, also between spaces); -1 if there is none at `at`. */
export function endOfNumber(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code !== SPACE && !(code >= ZERO && code <= NINE)) return -1;
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
export function endOfDigits(text: string, start: number): number {
  let end = start;
  for (; end - start < MAX_DIGITS; end += 1) {
    const code = text.charCodeAt(end);
    // `charCodeAt` returns NaN beyond the end.
    if (!(code >= ZERO && code <= NINE)) break;
  }
  return end;
}
