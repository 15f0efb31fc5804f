// Third phase: of each tool's results only the newest keep their payload.

import { RESPONSE_FLAG } from './history-columns.js';
import type { HistoryIndex } from './history-index.js';

/**
 * Marks the responses whose payload is to become the pointer; returns how many. Responses in
 * `dropped` are gone already and count for nothing; those that hold the pointer count towards the
 * retention and are not marked again. A retention below 1 means 1.
 */
export function markOldResults(
  index: HistoryIndex,
  retention: number,
  dropped: Uint8Array,
  marks: Uint8Array,
): number {
  const { responses } = index;
  const kept = retention >= 1 ? Math.floor(retention) : 1;
  const seen = new Float64Array(index.toolCount);
  let marked = 0;
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    if (dropped[row] === 1) continue;
    const tool = responses.tool.at(row);
    const count = (seen[tool] ?? 0) + 1;
    seen[tool] = count;
    if (count <= kept || (responses.flags.at(row) & RESPONSE_FLAG.pruned) !== 0) continue;
    marks[row] = 1;
    marked += 1;
  }
  return marked;
}
