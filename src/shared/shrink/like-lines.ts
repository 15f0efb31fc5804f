// The shrinker `likeLines`: shortens runs of similar lines. Keeps one of several equal lines. Of lines that differ only in numbers,
// it keeps the first, the last, and some between them that show the trend: at the default level only in output of commands,
// because numbers from other tools are data.

import { Draft, leftOut, mentionsFailure } from './shrinker.js';
import { exceptionsIn, extremesIn, haveIdentifiers, numbersIn } from './number-columns.js';
import type { NumberColumns } from './number-columns.js';
import type { Shrinker } from './shrinker.js';

/** How to shorten a run of lines. */
interface Cut {
  /** Shorter runs are unchanged. */
  readonly minLines: number;
  readonly head: number;
  readonly tail: number;
  /** Lines to keep at even distances between head and tail, along with the extremes of what is measured. @default 0 */
  readonly between?: number;
  /** The numbers of the run's lines; lines with outliers are kept. */
  readonly numbers?: NumberColumns;
}

const EQUAL: Cut = { minLines: 3, head: 1, tail: 0 };
/** Equal lines are cut only if the removed ones are longer than this, because the note has a length too. In UTF-16 units. */
const MIN_EQUAL_LENGTH = 44;
/** For progress output: only its last state matters. */
const PROGRESS: Cut = { minLines: 4, head: 1, tail: 1 };
const WHOLE: Cut = { minLines: Infinity, head: 0, tail: 0 };
/** Rows of numbers may be what was asked for, so more of them are kept; the agent can write all of them to a file. */
const NUMBERED = {
  default: { minLines: 40, head: 12, tail: 6 },
  strong: { minLines: 12, head: 4, tail: 2 },
} as const satisfies Record<string, Cut>;
/** Measurements, such as the loss of a training, have a trend. */
const MEASURED = { head: 3, tail: 6, between: 8 } as const;
/** Rows with identifiers and rows of tables: lists as long as those that `grouping` keeps whole are not cut. */
const IDENTIFIED: Cut = { minLines: 300, head: 150, tail: 50 };
/** Fewer removed lines are not worth a note. */
const MIN_LEFT_OUT = 2;
/** Shorter lines, in UTF-16 units, are not compared for similarity. */
const MIN_LIKE_LENGTH = 8;
const MAX_SCANNED = 400;

const BAR = /\b\d+(?:\.\d+)?\s?[kKMG]i?B\/s|[█▓▒░━╸╺]|[=#]{8}/;
/** A decimal with a name in front of it that is not a duration, a size, a rate or a percentage. */
const MEASURE =
  /\b(?!(?:in|took|after)\b)\p{L}\w*["']?\s?[:= ]\s?-?\d+\.\d+(?:e[+-]?\d+)?(?![\w.%/:])(?!\s?(?:%|m?s\b|sec|min|it\/|[kKMGT]i?B))/u;
/** The line under the names of a table's columns. */
const RULER = /^[\s|+:═─━┼├┤╪╞╡╟╢┿╂-]*(?:-{3}|[═─━]{3})[\s|+:═─━┼├┤╪╞╡╟╢┿╂-]*$/;
/** Progress: a percentage, or a count out of a total such as `3/10`, but not a network such as `10.0.0.0/8`. */
const DONE = /(\d+(?:\.\d+)?)\s?%|(?<![\d/.])(\d+)\/(\d+)(?![\d/.])/;

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
      while (end < lines.length && lines[end] === first) end += 1;
      let cut = EQUAL;
      if (end - start < EQUAL.minLines && cutsNumbers && first.length >= MIN_LIKE_LENGTH) {
        let likeEnd = end;
        // Compares each line with its predecessor, which is like all before it: comparing with the first, perhaps long, line costs more.
        while (likeEnd < lines.length && isLike(lines, likeEnd)) likeEnd += 1;
        if (likeEnd - start >= PROGRESS.minLines) {
          cut = cutOf(lines, start, likeEnd, level === 'strong' ? level : 'default');
          end = likeEnd;
        }
      }
      const isShort = cut === EQUAL && (end - start - 1) * (first.length + 1) <= MIN_EQUAL_LENGTH;
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

/** Applies a cut to a run of lines. */
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
    const { between = 0, numbers = [] } = cut;
    const telling = [...exceptionsIn(numbers), ...(between > 0 ? extremesIn(numbers) : [])];
    const evenly = Array.from({ length: between }, (_, at) =>
      Math.round(from + ((at + 1) * (to - from)) / (between + 1)),
    );
    const found = [...telling.map((row) => start + row), ...evenly];
    const inside = found.filter((each) => each >= from && each < to);
    let next = from;
    for (const at of [...new Set(inside)].sort((a, b) => a - b).concat(to)) {
      if (at - next < MIN_LEFT_OUT) kept.push(...lines.slice(next, at));
      else kept.push(leftOut(`${at - next} lines like it`));
      if (at < to) kept.push(lines[at] ?? '');
      next = at + 1;
    }
  }
  kept.push(...lines.slice(to, end));
  return kept;
}

/** Chooses how to shorten a run of similar lines. Lines about failures are kept whole. */
function cutOf(
  lines: readonly string[],
  start: number,
  end: number,
  level: keyof typeof NUMBERED,
): Cut {
  const first = lines[start] ?? '';
  if (mentionsFailure(first)) return WHOLE;
  if (BAR.test(first.slice(0, MAX_SCANNED))) return PROGRESS;
  const isMeasured = level === 'default' && MEASURE.test(first.slice(0, MAX_SCANNED));
  if (!isMeasured && isProgress(lines, start, end)) return PROGRESS;
  const cut = NUMBERED[level];
  if (end - start < cut.minLines) return cut;
  const numbers = numbersIn(lines, start, end);
  const isList =
    level === 'default' &&
    (haveIdentifiers(numbers) || isDelimited(lines, start, end) || isInTable(lines, start));
  return { ...(isList ? IDENTIFIED : cut), ...(isMeasured && !isList && MEASURED), numbers };
}

/** Delimiters between cells. In a sentence, a space follows them. */
const DELIMITERS = /[,;|\t](?! )/g;
const MIN_DELIMITERS = 2;

/** Whether the lines are delimited rows, such as CSV, which were asked for. Compares the first and the last line only. */
export function isDelimited(lines: readonly string[], start: number, end: number): boolean {
  const count = (at: number): number =>
    (lines[at] ?? '').slice(0, MAX_SCANNED).match(DELIMITERS)?.length ?? 0;
  return count(start) >= MIN_DELIMITERS && count(start) === count(end - 1);
}

/** Whether the lines are rows of a table with a ruler above them: such tables were asked for. */
function isInTable(lines: readonly string[], start: number): boolean {
  const first = Math.max(0, start - IDENTIFIED.minLines);
  for (let at = start - 1; at >= first; at -= 1) {
    const line = lines[at] ?? '';
    if (line.trim() === '') return false;
    if (line.length <= MAX_SCANNED && RULER.test(line)) return true;
  }
  return false;
}

/** Whether progress never decreases, and either starts at 0 or 1 or reaches 99 % of its total. */
function isProgress(lines: readonly string[], start: number, end: number): boolean {
  let before = 0;
  let isComplete = false;
  for (let at = start; at < end; at += 1) {
    const [, percent, count, of] = DONE.exec((lines[at] ?? '').slice(0, MAX_SCANNED)) ?? [];
    const done = Number(percent ?? count);
    // `done` is NaN if the line states no progress.
    if (!(done >= before)) return false;
    before = done;
    const whole = percent === undefined ? Number(of) : 100;
    if (done > whole) return false;
    isComplete ||= done >= 0.99 * whole || (at === start && done <= 1);
  }
  return isComplete;
}

/** Whether a line is similar to the one before it. */
function isLike(lines: readonly string[], at: number): boolean {
  return isSimilar(lines[at - 1] ?? '', lines[at] ?? '');
}

/** Whether two lines are equal except for digits, spaces and progress bars, and contain other characters too. */
export function isSimilar(a: string, b: string): boolean {
  // A cheap check first: different lines that begin alike mostly differ at their ends as well.
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
    if (at === a.length || other === b.length) return at === a.length && other === b.length;
    if (at + other === from) return false;
  }
}

/** The last character that does not vary; `undefined` if there is none. */
function lastLetterOf(line: string): number | undefined {
  for (let at = line.length - 1; at >= 0; at -= 1) {
    const code = line.charCodeAt(at);
    if (!isVarying(code)) return code;
  }
  return undefined;
}

/** Spaces, digits, and the characters of progress bars. */
function isVarying(code: number): boolean {
  return (
    code === 0x20 ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x23 ||
    code === 0x3d ||
    (code >= 0x2500 && code <= 0x259f)
  );
}
