// Summarizes the tool results of one entry.

import { withResult } from '../content.js';
import type { IContent } from '../content.js';
import type { PlaceholderForm } from '../density.js';
import type { CallOf } from './history-outline.js';
import { summarizeToolResponse } from './tool-summary.js';

/**
 * Returns the entry with one line in place of each tool result; the entry itself when nothing
 * changes. Results of tools that still run stay. `callOf` finds calls in the history in which the
 * entry stands at `index`.
 */
export function summarizeEntry(
  entry: IContent,
  index: number,
  callOf: CallOf,
  form: PlaceholderForm = 'pointer',
): IContent {
  if (entry.speaker !== 'tool') return entry;
  const blocks = entry.blocks.map((block, at) => {
    if (block.type !== 'tool_response' || block.isComplete === false) return block;
    const summary = summarizeToolResponse(block, callOf(index, at), form);
    return summary === block.result ? block : withResult(block, summary);
  });
  return blocks.some((block, at) => block !== entry.blocks[at]) ? { ...entry, blocks } : entry;
}
