// What was removed, out of several removal logs, in pages that do not shift while these grow.

import { listRemoved } from '../../../removal-log.js';
import type { RemovedResult, SessionScope } from '../../../removal-log.js';
import { chooseRecall } from './recall-choice.js';
import type { RecallSource } from './recall-choice.js';
import { isMissingFile } from './recall-failures.js';

/** A part of the list, the newest first. */
export interface RemovedPage {
  readonly results: readonly RemovedResult[];
  /** Of the whole list. */
  readonly total: number;
  /** Where the next page begins; absent on the last one. */
  readonly nextCursor?: string;
}

/** Where a result stands in the list; what comes later has a lower one. */
type Place = readonly [removedAt: number, file: number, index: number];

interface PlacedResult {
  readonly place: Place;
  readonly result: RemovedResult;
}

/**
 * Reads a page, or tells that nobody said whose of several sessions. A file that does not exist holds nothing.
 *
 * @throws RangeError for a cursor that no page gave; CtxfoldError `REMOVAL_LOG_READ_FAILED` when a file
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
  const lists =
    choice === 'none'
      ? []
      : await Promise.all(source.paths.map((path) => listWhatExists(path, choice)));
  const placed = lists.flatMap((results, file) =>
    results.map((result, index): PlacedResult => ({
      place: [result.removedAt, file, index],
      result,
    })),
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

async function listWhatExists(
  path: string,
  scope: SessionScope,
): Promise<readonly RemovedResult[]> {
  try {
    return await listRemoved(path, scope);
  } catch (thrown) {
    if (isMissingFile(thrown)) return [];
    throw thrown;
  }
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
