// The shrinker `likeLines`: shortens runs of similar lines. Keeps one of several equal lines. In command output, of lines that
// differ only in numbers, keeps the first, the last and the exceptions. At the default level, numbers that other tools return are
// data and stay.

import { Draft, leftOut, mentionsFailure } from './shrinker.js';
import { exceptionsIn, numbersIn } from './number-columns.js';
import type { Shrinker, ShrinkLevel } from './shrinker.js';

/** How to shorten a run of lines. */
interface Cut {
  /** Minimum lines of a run to shorten. */
  readonly minLines: number;
  readonly head: number;
  readonly tail: number;
  /** Whether lines with unusual numbers are kept too; see `exceptionsIn`. @default false */
  readonly keepsExceptions?: boolean;
}

const EQUAL: Cut = { minLines: 3, head: 1, tail: 0 };
/** Lines stay if the repetitions have at most this many UTF-16 units: the note would be longer than a few blank lines. */
const MIN_REPEATED = 44;
/** Progress output: only the last state matters. */
const PROGRESS: Cut = { minLines: 4, head: 1, tail: 1 };
const KEEP_ALL: Cut = { minLines: Infinity, head: 0, tail: 0 };
/** Rows of numbers may be what the agent asked for, so by default only more of them than a list of files may have are cut. */
const NUMBERED: Readonly<Record<ShrinkLevel, Cut>> = {
  lossless: KEEP_ALL,
  default: { minLines: 300, head: 150, tail: 50, keepsExceptions: true },
  strong: { minLines: 12, head: 4, tail: 2, keepsExceptions: true },
};
/** Fewer consecutive lines are not worth a note. */
const MIN_LEFT_OUT = 2;
/** Minimum length of lines compared for similarity, in UTF-16 units; and how much of a line is matched against patterns. */
const MIN_LIKE_LENGTH = 8;
const MAX_SCANNED = 400;

/** Matches a named decimal, such as `loss: 0.25`, that is not a duration, a size, a rate or a percentage. */
const MEASURE =
  /\b(?!(?:in|took|after)\b)\p{L}\w*["']?\s?[:= ]\s?-?\d+\.\d+(?:e[+-]?\d+)?(?![\w.%/:])(?!\s?(?:%|m?s\b|sec|min|it\/|[kKMGT]i?B))/u;
/** Matches a progress value: a percentage, `3/10` or `1.5MB/4MB`, but not a network such as `10.0.0.0/8`. */
const DONE =
  /(\d+(?:\.\d+)?)\s?%|(?<![\d/.])(\d+(?:\.\d+)?)(?:\s?[kKMG]i?B)?\/(\d+(?:\.\d+)?)(?![\d/.])/;

/** Removes lines that repeat others. */
export const LIKE_LINES: Shrinker = {
  name: 'likeLines',
  label: 'repeated lines',
  from: 'lossless',
  shrink({ lines }, { purpose, level }) {
    const cutsNumbers = level === 'strong' || (level === 'default' && purpose === 'command');
    const kept: string[] = [];
    let isCut = false;
    const keep = (start: number, end: number): void => {
      for (let at = start; at < end; at += 1) kept.push(lines[at] ?? '');
    };
    for (let start = 0; start < lines.length;) {
      const first = lines[start] ?? '';
      let end = start + 1;
      while (lines[end] === first) end += 1;
      let cut = EQUAL;
      if (end - start < EQUAL.minLines && cutsNumbers && first.length >= MIN_LIKE_LENGTH) {
        let likeEnd = end;
        // Compares each line with its predecessor rather than with the first line, which may be long and would be re-read for each.
        // Similarity is transitive, so the result is the same.
        while (isSimilar(lines[likeEnd - 1] ?? '', lines[likeEnd] ?? '')) likeEnd += 1;
        if (likeEnd - start >= PROGRESS.minLines) {
          cut = cutOf(lines, start, likeEnd, NUMBERED[level]);
          end = likeEnd;
        }
      }
      const isShort = (end - start - 1) * (first.length + 1) <= MIN_REPEATED;
      if (end - start < cut.minLines || isShort) keep(start, end);
      else {
        isCut = true;
        kept.push(...shortened(lines, start, end, cut));
      }
      start = end;
    }
    return isCut ? Draft.ofLines(kept) : undefined;
  },
};

/** Returns the lines of a run that its cut keeps, with notes in place of the others. */
function shortened(
  lines: readonly string[],
  start: number,
  end: number,
  cut: Cut,
): readonly string[] {
  const [from, to] = [start + cut.head, end - cut.tail];
  const kept = lines.slice(start, from);
  if (cut === EQUAL) kept.push(leftOut(`the same line ${to - from} more times`));
  else {
    const exceptions =
      cut.keepsExceptions === true ? exceptionsIn(numbersIn(lines, start, end)) : [];
    const inside = exceptions.map((row) => start + row).filter((each) => each >= from && each < to);
    let next = from;
    for (const at of [...inside, to]) {
      if (at - next < MIN_LEFT_OUT) kept.push(...lines.slice(next, at));
      else kept.push(leftOut(`${at - next} lines like it`));
      if (at < to) kept.push(lines[at] ?? '');
      next = at + 1;
    }
  }
  kept.push(...lines.slice(to, end));
  return kept;
}

/** Decides how to shorten a run of similar lines. Lines about failures are kept whole. */
function cutOf(lines: readonly string[], start: number, end: number, numbered: Cut): Cut {
  const first = lines[start] ?? '';
  if (mentionsFailure(first)) return KEEP_ALL;
  const isMeasured = MEASURE.test(first.slice(0, MAX_SCANNED));
  return !isMeasured && isProgress(lines, start, end) ? PROGRESS : numbered;
}

/** Matches delimiters of cells, but not the same characters in a sentence, where a space follows. */
const DELIMITERS = /[,;|\t](?! )/g;
const MIN_DELIMITERS = 2;

/** Whether the lines are delimited rows such as CSV. Only the first and last line are compared. */
export function isDelimited(lines: readonly string[], start: number, end: number): boolean {
  const count = (at: number): number =>
    (lines[at] ?? '').slice(0, MAX_SCANNED).match(DELIMITERS)?.length ?? 0;
  return count(start) >= MIN_DELIMITERS && count(start) === count(end - 1);
}

/** Whether the lines' progress values never decrease, and begin at 1 or less or come within 1 % of the end. */
function isProgress(lines: readonly string[], start: number, end: number): boolean {
  let before = 0;
  let isComplete = false;
  for (let at = start; at < end; at += 1) {
    const [, percent, count, of] = DONE.exec((lines[at] ?? '').slice(0, MAX_SCANNED)) ?? [];
    const done = Number(percent ?? count);
    // `done` is NaN, and the comparison false, if the line has no progress value.
    if (!(done >= before)) return false;
    before = done;
    const whole = percent === undefined ? Number(of) : 100;
    if (done > whole) return false;
    isComplete ||= done >= 0.99 * whole || done <= 1;
  }
  return isComplete;
}

/** Whether two lines are equal except for digits, spaces and progress bars, and have other characters as well. */
export function isSimilar(a: string, b: string): boolean {
  // Fast path: lines that start alike but are not similar mostly have different ends as well.
  const last = lastLetterOf(a);
  if (last === undefined || last !== lastLetterOf(b)) return false;
  let at = 0;
  let other = 0;
  for (;;) {
    while (at < a.length && a.charCodeAt(at) === b.charCodeAt(other)) {
      at += 1;
      other += 1;
    }
    const from = at + other;
    while (at < a.length && isVarying(a.charCodeAt(at))) at += 1;
    while (other < b.length && isVarying(b.charCodeAt(other))) other += 1;
    if (at === a.length) return other === b.length;
    if (at + other === from) return false;
  }
}

/** Returns the code of the last character that does not vary, or `undefined`. */
function lastLetterOf(line: string): number | undefined {
  for (let at = line.length - 1; at >= 0; at -= 1) {
    const code = line.charCodeAt(at);
    if (!isVarying(code)) return code;
  }
  return undefined;
}

/** Whether a character may differ between similar lines: a space, a digit, or part of a progress bar. */
function isVarying(code: number): boolean {
  return (
    code === 0x20 ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x23 ||
    code === 0x3d ||
    (code >= 0x2500 && code <= 0x259f)
  );
}
