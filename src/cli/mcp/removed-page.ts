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
  const isCursor = cursor === undefined || /^\d{1,9}$/.test(cursor);
  if (!isCursor) throw new RangeError('Expected a cursor that a page before has named.');
  const choice = await chooseRecall(source);
  if (choice === 'several') return choice;
  const lists = await Promise.all(choice.paths.map((path) => listRemoved(path, choice.scope)));
  const oldestFirst = lists.flat().sort((a, b) => a.removedAt - b.removedAt);
  // A cursor is the number of older results, which stay the same while newer ones are added.
  const end = Math.min(oldestFirst.length, Number(cursor ?? Infinity));
  const start = Math.max(0, end - limit);
  return {
    results: oldestFirst.slice(start, end).reverse(),
    total: oldestFirst.length,
    ...(start > 0 && { nextCursor: String(start) }),
  };
}
