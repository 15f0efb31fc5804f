// Pages through the removed results of several removal logs. Cursors stay valid while the logs grow.

import { listRemoved } from '../../removal-log.js';
import type { RemovedResult } from '../../removal-log.js';
import { chooseRecall } from './recall-choice.js';
import type { RecallSource } from './recall-choice.js';

/** One page, newest first. */
export interface RemovedPage {
  readonly results: readonly RemovedResult[];
  /** Number of results in the whole list. */
  readonly total: number;
  /** Cursor of the next page; absent on the last page. */
  readonly nextCursor?: string;
}

/** Sort key of a result; the list is in descending order. */
type Place = readonly [removedAt: number, file: number, index: number];

/**
 * Reads a page; `several` when the logs hold several sessions and no scope was given.
 *
 * @throws RangeError for a malformed cursor; CtxfoldError `REMOVAL_LOG_READ_FAILED` when a file
 * cannot be read.
 */
export async function readRemovedPage(
  source: RecallSource,
  limit: number,
  cursor?: string,
): Promise<RemovedPage | 'several'> {
  const start = cursor === undefined ? undefined : readCursor(cursor);
  const choice = await chooseRecall(source);
  if (choice === 'several') return choice;
  const lists = await Promise.all(choice.paths.map((path) => listRemoved(path, choice.scope)));
  const placed = lists.flatMap((results, file) =>
    results.map((result, index) => ({ place: [result.removedAt, file, index] as const, result })),
  );
  placed.sort((a, b) => comparePlaces(b.place, a.place));
  const left =
    start === undefined ? placed : placed.filter(({ place }) => comparePlaces(place, start) < 0);
  const page = left.slice(0, limit);
  const last = page.at(-1);
  return {
    results: page.map(({ result }) => result),
    total: placed.length,
    ...(last !== undefined && left.length > limit && { nextCursor: last.place.join('.') }),
  };
}

function readCursor(cursor: string): Place {
  const match = /^(\d{1,16})\.(\d{1,9})\.(\d{1,9})$/.exec(cursor);
  if (match === null) throw new RangeError('Expected a cursor that a page before has named.');
  const [removedAt = 0, file = 0, index = 0] = match.slice(1).map(Number);
  return [removedAt, file, index];
}

function comparePlaces(a: Place, b: Place): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
