// The shrinker `shownBefore`: lines that an earlier result of the session shows, unchanged. Which ones those are, the index
// of the history says; here is what stands in their place, and how that is known again.

import { Draft } from './draft.js';
import { isShrunk } from './shrunk-mark.js';
import type { Shrinker } from './shrinker.js';
import { leftOut } from './shrinker.js';

/** When it runs, and its name: it is none of the chain, as it needs the history. */
export const SHOWN_BEFORE_SHRINKER: Pick<Shrinker<'shownBefore'>, 'name' | 'from'> = {
  name: 'shownBefore',
  from: 'lossless',
};

/** Runs of less text are not worth a line that says where they stand. In UTF-16 units. */
const MIN_RUN = 120;

const SHOWN_ABOVE = 'unchanged, as shown above by ';
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

/** Lines of a text that the result of an earlier call shows, by their indices; the end is exclusive. */
export interface ShownElsewhere {
  readonly start: number;
  readonly end: number;
  readonly callId: string;
}

/** The call whose result shows all lines of a text, if there is one. */
export function sourceOfAll(text: string, runs: readonly ShownElsewhere[]): string | undefined {
  const [first] = runs;
  if (runs.length !== 1 || first?.start !== 0) return undefined;
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return first.end === lines ? first.callId : undefined;
}

/** Returns a text with a line in place of each of these runs that is worth it. */
export function withoutRuns(draft: Draft, runs: readonly ShownElsewhere[]): Draft | undefined {
  if (runs.length === 0) return undefined;
  const { lines } = draft;
  const kept: string[] = [];
  let from = 0;
  for (const { start, end, callId } of runs) {
    let length = end - start;
    for (let at = start; at < end; at += 1) length += lines[at]?.length ?? 0;
    if (length < MIN_RUN) continue;
    for (let at = from; at < start; at += 1) kept.push(lines[at] ?? '');
    kept.push(leftOut(`${end - start} lines, ${shownBefore(callId)},`));
    from = end;
  }
  if (from === 0) return undefined;
  for (let at = from; at < lines.length; at += 1) kept.push(lines[at] ?? '');
  return Draft.ofLines(kept);
}
