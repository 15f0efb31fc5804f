// Third phase: of each tool's results only the newest keep their payload.

import type { PassSettings } from '../../density.js';
import { RESPONSE_FLAG, RESULT_MARK } from '../index/history-columns.js';
import type { HistoryIndex } from '../index/history-index.js';

/**
 * Marks the responses whose payload is to become a placeholder; returns how many. Responses in
 * `dropped` are gone already and count for nothing; those that hold the pointer, or a line that names their
 * call, count towards the retention and are not marked again. A summary line becomes the pointer, unless
 * such a line is what would be put there. A retention below 1 means 1.
 */
export function markOldResults(
  index: HistoryIndex,
  { recencyRetention, placeholder = 'pointer' }: PassSettings,
  dropped: Uint8Array,
  marks: Uint8Array,
): number {
  const { responses } = index;
  const { pruned, summary } = RESPONSE_FLAG;
  const settled = placeholder === 'pointer' ? pruned : pruned | summary;
  const kept = resultsKept(recencyRetention);
  let marked = 0;
  visitByRecency(index, dropped, (row, rank) => {
    if (rank <= kept || (responses.flags.at(row) & settled) !== 0) return;
    marks[row] = RESULT_MARK.pointer;
    marked += 1;
  });
  return marked;
}

/** How many results of each tool keep their payload. */
export function resultsKept(retention: number): number {
  return retention >= 1 ? Math.floor(retention) : 1;
}

/** Tells of every response that is not dropped the how-manieth newest of its tool it is, from 1; the newest first. */
export function visitByRecency(
  { responses, toolCount }: HistoryIndex,
  dropped: Uint8Array,
  visit: (row: number, rank: number) => void,
): void {
  const seen = new Float64Array(toolCount);
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    if (dropped[row] === 1) continue;
    const tool = responses.tool.at(row);
    const rank = (seen[tool] ?? 0) + 1;
    seen[tool] = rank;
    visit(row, rank);
  }
}
