// Which blocks showed a text before an answer. All kinds of needs share this index of the session.

import type { ContentBlock, IContent } from '../../../src/index.js';
import { VisibleLines } from '../visible-lines.js';

/** The blocks of one context, indexed once. */
export class ShownBefore {
  readonly #lines = new VisibleLines();
  readonly #entryOf = new Map<ContentBlock, number>();

  constructor(entries: readonly IContent[]) {
    entries.forEach(({ blocks }, index) => {
      for (const block of blocks) {
        this.#lines.add(block);
        if (!this.#entryOf.has(block)) this.#entryOf.set(block, index);
      }
    });
  }

  /** The blocks in entries before this one that show the line, oldest first. */
  holders(line: string, entry: number): readonly ContentBlock[] {
    return this.#lines.holders(line).filter((block) => this.entryOf(block) < entry);
  }

  /** The index of the first entry with the block; infinite for a block of another context. */
  entryOf(block: ContentBlock): number {
    return this.#entryOf.get(block) ?? Infinity;
  }
}

/** Whether only results show a text: not the user, the agent or a call. */
export function isFromResultsOnly(holders: readonly ContentBlock[]): boolean {
  return holders.length > 0 && holders.every(({ type }) => type === 'tool_response');
}
