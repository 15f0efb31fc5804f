// Makes the history that a planned compression leaves. Looks at the entries that it edits, and shares
// every block and every field that it does not change.

import { withResult } from '../content.js';
import type { IContent } from '../content.js';
import type { PlannedCompression } from '../resident-protocol.js';

/** A compressed history, and what is known of its new entries. */
export interface CarriedOutCompression {
  readonly newHistory: IContent[];
  /** Tokens of each entry that was not in the history before. */
  readonly knownTokens: ReadonlyMap<IContent, number>;
}

/** Carries a plan out on the history that it was made for. */
export function carryOutCompression(
  { drops, summarized, lines, tokensAfter }: PlannedCompression,
  history: readonly IContent[],
): CarriedOutCompression {
  const newHistory: IContent[] = [];
  const knownTokens = new Map<IContent, number>();
  let drop = 0;
  let line = 0;
  let edited = 0;
  for (const [index, entry] of history.entries()) {
    if (drops[drop] === index) {
      drop += 1;
      continue;
    }
    if (summarized[2 * line] !== index) {
      newHistory.push(entry);
      continue;
    }
    const blocks = entry.blocks.map((block, at) => {
      const isNamed = summarized[2 * line] === index && summarized[2 * line + 1] === at;
      const result = isNamed ? lines[line] : undefined;
      if (isNamed) line += 1;
      if (result === undefined || block.type !== 'tool_response') return block;
      return withResult(block, result);
    });
    const summary = { ...entry, blocks };
    newHistory.push(summary);
    if (tokensAfter[edited] === index) knownTokens.set(summary, tokensAfter[edited + 1] ?? 0);
    edited += 2;
  }
  if (2 * line === summarized.length && drop === drops.length) return { newHistory, knownTokens };
  throw new RangeError('The plan edits entries or blocks that the history does not have.');
}
