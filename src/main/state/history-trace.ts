// Recognizes a history by what was added to it, at the price of a look at each entry as it comes in. A few
// characters of each tell; nothing that must be kept apart may depend on it.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { hashOf } from '../../shared/density/index/hash.js';

/** Characters of a text that are looked at. */
const SEEN_CHARACTERS = 64;

/** What was added to a history since it began, or was cleared: so many entries, that look so. */
export class HistoryTrace {
  #length = 0;
  #hash = 0;

  /** Entries that were added. */
  get length(): number {
    return this.#length;
  }

  /** Equal for histories that began with the same entries. */
  get key(): string {
    return `${this.#length}:${this.#hash}`;
  }

  add({ speaker, blocks }: IContent): void {
    this.#length += 1;
    this.#hash = hashOf(`${this.#hash} ${speaker} ${blocks.map(traceOf).join(' ')}`);
  }
}

function traceOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return seen(block.text);
    case 'code':
      return seen(block.code);
    case 'thinking':
      return seen(block.thought);
    case 'tool_call':
      return `${block.id} ${block.name}`;
    case 'tool_response':
      return `${block.callId} ${typeof block.result === 'string' ? seen(block.result) : ''}`;
    case 'media':
    case 'opaque':
      return block.type;
  }
}

function seen(text: string): string {
  return `${text.length} ${text.slice(0, SEEN_CHARACTERS)}`;
}
