// Third phase: of each tool's results only the newest keep their payload.

import type { PassSettings } from '../density.js';
import { RESPONSE_FLAG } from './history-columns.js';
import type { HistoryIndex } from './history-index.js';

/**
 * Marks the responses whose payload is to become a placeholder; returns how many. Responses in
 * `dropped` are gone already and count for nothing; those that hold the pointer, or a line that names their
 * call, count towards the retention and are not marked again. A summary line becomes the pointer, unless
 * such a line is what would be put there. A retention below 1 means 1.
 */
export function markOldResults(
  index: HistoryIndex,
  { recencyRetention: retention, placeholder = 'pointer' }: PassSettings,
  dropped: Uint8Array,
  marks: Uint8Array,
): number {
  const { responses } = index;
  const { pruned, summary } = RESPONSE_FLAG;
  const settled = placeholder === 'pointer' ? pruned : pruned | summary;
  const kept = retention >= 1 ? Math.floor(retention) : 1;
  const seen = new Float64Array(index.toolCount);
  let marked = 0;
  for (let row = responses.length - 1; row >= 0; row -= 1) {
    if (dropped[row] === 1) continue;
    const tool = responses.tool.at(row);
    const count = (seen[tool] ?? 0) + 1;
    seen[tool] = count;
    if (count <= kept || (responses.flags.at(row) & settled) !== 0) continue;
    marks[row] = 1;
    marked += 1;
  }
  return marked;
}
