// Second phase: of several inclusions of one file only the latest stays.

import type { HistoryIndex } from '../index/history-index.js';

/** Marks every inclusion row that a later inclusion of the same file supersedes; returns how many. */
export function markSupersededInclusions(index: HistoryIndex, marks: Uint8Array): number {
  const { inclusions } = index;
  const isIncludedLater = new Uint8Array(index.pathCount);
  let marked = 0;
  for (let row = inclusions.length - 1; row >= 0; row -= 1) {
    const path = inclusions.path.at(row);
    if (isIncludedLater[path] === 1) {
      marks[row] = 1;
      marked += 1;
    }
    isIncludedLater[path] = 1;
  }
  return marked;
}
