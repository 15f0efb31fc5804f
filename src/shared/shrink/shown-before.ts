// The shrinker `shownBefore`: lines that an earlier result of the session shows, unchanged. Which ones those are, the index
// of the history says; here is what stands in their place, and how that is known again.

import { Draft } from './shrinker.js';
import { lineNumberAt } from './line-numbers.js';
import type { Shrinker } from './shrinker.js';

/** When it runs, and its name: it is none of the chain, as it needs the history. */
export const SHOWN_BEFORE_SHRINKER: Pick<Shrinker<'shownBefore'>, 'name' | 'from'> = {
  name: 'shownBefore',
  from: 'lossless',
};

/** Runs of less text are not worth a line that says where they stand. In UTF-16 units. */
export const MIN_RUN = 120;

const SHOWN_ABOVE = 'unchanged, as shown above by ';
const SHOWN_BY_CALL = 'unchanged, as its call has them';
const SOURCE = /unchanged, as shown above by ([\w.-]{1,64})/g;
const ID = /^[\w.-]{1,64}$/;

/** Whether a call can be named in such a line. */
export function isShownId(callId: string): boolean {
  return ID.test(callId);
}

/** Says where the text stands that is left out. */
export function shownBefore(sourceId: string): string {
  return `${SHOWN_ABOVE}${sourceId}`;
}

/** The ids of the calls that a result says to show what is left out of it, with a space between; empty for all others. */
export function sourceIdsOf(result: unknown): string {
  if (typeof result !== 'string' || !result.endsWith(']')) return '';
  const isLine = result.startsWith('[') && !result.includes('\n');
  if (!isLine && !isShrunk(result)) return '';
  const ids = new Set(Array.from(result.matchAll(SOURCE), ([, id = '']) => id));
  return [...ids].join(' ');
}

/** Lines of a text that the result of an earlier call shows, or the arguments of its own; by their indices, the end is exclusive. */
export interface ShownElsewhere {
  readonly start: number;
  readonly end: number;
  /** `null` for its own call. */
  readonly callId: string | null;
  /** The number that the first one has there, `null` for none; absent where it has the same, or none, here too. */
  readonly there?: number | null;
}

/** The call whose result shows all lines of a text, if there is one. */
export function sourceOfAll(text: string, runs: readonly ShownElsewhere[]): string | undefined {
  const [first] = runs;
  if (runs.length !== 1 || first?.start !== 0 || first.callId === null) return undefined;
  if (first.there !== undefined) return undefined;
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return first.end === lines ? first.callId : undefined;
}

/** Adds what these runs leave open of others. All ascend, and none of one list overlap. */
export function withOthers(
  runs: readonly ShownElsewhere[],
  others: readonly ShownElsewhere[],
): readonly ShownElsewhere[] {
  if (others.length === 0) return runs;
  const all: ShownElsewhere[] = [];
  let next = 0;
  for (const other of others) {
    let { start } = other;
    const take = (end: number): void => {
      if (start >= end) return;
      const { there } = other;
      const from = typeof there === 'number' && { there: there + start - other.start };
      all.push({ ...other, start, end, ...from });
    };
    for (let run = runs[next]; run !== undefined && run.start < other.end; run = runs[next]) {
      take(run.start);
      start = Math.max(start, run.end);
      // One that reaches over the end may reach into the next one.
      if (run.end > other.end) break;
      all.push(run);
      next += 1;
    }
    take(other.end);
  }
  return [...all, ...runs.slice(next)];
}

/** Returns a text with a line in place of each of these runs that is worth it. */
export function withoutRuns(draft: Draft, runs: readonly ShownElsewhere[]): Draft | undefined {
  if (runs.length === 0) return undefined;
  const { lines } = draft;
  const kept: string[] = [];
  let from = 0;
  for (const run of runs) {
    const { start, end } = run;
    let length = end - start;
    for (let at = start; at < end; at += 1) length += lines[at]?.length ?? 0;
    if (length < MIN_RUN) continue;
    for (let at = from; at < start; at += 1) kept.push(lines[at] ?? '');
    kept.push(`[… ${whatOf(run, lines)} …]`);
    from = end;
  }
  if (from === 0) return undefined;
  for (let at = from; at < lines.length; at += 1) kept.push(lines[at] ?? '');
  return Draft.ofLines(kept);
}

/** Says which lines these are; by their numbers where those differ, so that each line can be had from what both places show. */
function whatOf({ start, end, callId, there }: ShownElsewhere, lines: readonly string[]): string {
  const count = end - start;
  const shown = callId === null ? SHOWN_BY_CALL : shownBefore(callId);
  if (there === undefined) return `${count} lines ${shown}`;
  const here = lineNumberAt(lines[start] ?? '', 0);
  const isNumbered = lineNumberAt(lines[end - 1] ?? '', 0) === here + count - 1;
  const which = isNumbered ? `lines ${here}-${here + count - 1}` : `${count} lines`;
  const asThere = there === null ? 'without numbers' : `as lines ${there}-${there + count - 1}`;
  return `${which} ${shown} ${asThere}`;
}

/** A result that would lose less than this stays as it is. In UTF-16 units, and as a share of it. */
const MIN_GAIN = 60;
const MIN_GAIN_SHARE = 0.03;

const MAX_MARK_LENGTH = 800;
const MARK_START = '[Shortened from ';
const MARK = /\n\[Shortened from \d+ characters: [^\n]{0,640}\]$/;

/** Whether a text is what was made of a result: it is left alone. */
export function isShrunk(text: string): boolean {
  return text.endsWith(']') && MARK.test(text.slice(-MAX_MARK_LENGTH));
}

/**
 * Returns what is left of a text with the line that says so; `undefined` when it is not worth it.
 *
 * @param took what was taken, in words
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
