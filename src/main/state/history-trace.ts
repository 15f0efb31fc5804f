// Recognizes a history by what was added to it, at the price of a look at each entry as it comes in. A few
// characters of each tell; nothing that must be kept apart may depend on it.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { hashOn, hashSeed } from '../../shared/density/index/hash.js';

/** Characters of a text that are looked at. */
const SEEN_CHARACTERS = 64;

/** What was added to a history since it began, or was cleared: so many entries, that look so. */
export class HistoryTrace {
  readonly #isAsked: boolean;
  #length = 0;
  #hash = hashSeed();

  /** @param isAsked whether anybody asks for its key: else it looks at nothing */
  constructor(isAsked: boolean = true) {
    this.#isAsked = isAsked;
  }

  /** Entries that were added. */
  get length(): number {
    return this.#length;
  }

  /** Equal for histories that began with the same entries. A number, since thousands of them are kept. */
  get key(): number {
    return this.#length * 2 ** 32 + (this.#hash >>> 0);
  }

  add({ speaker, blocks }: IContent): void {
    this.#length += 1;
    if (!this.#isAsked) return;
    let hash = hashOn(this.#hash, speaker);
    for (const block of blocks) hash = traced(block, hash);
    this.#hash = hash;
  }
}

function traced(block: ContentBlock, hash: number): number {
  switch (block.type) {
    case 'text':
      return seen(block.text, hash);
    case 'code':
      return seen(block.code, hash);
    case 'thinking':
      return seen(block.thought, hash);
    case 'tool_call':
      return seen(block.name, seen(block.id, hash));
    case 'tool_response': {
      const { callId, result } = block;
      return seen(typeof result === 'string' ? result : '', seen(callId, hash));
    }
    case 'media':
    case 'opaque':
      return hashOn(hash, block.type);
  }
}

/** The length keeps apart what stands side by side. */
function seen(text: string, hash: number): number {
  const { length } = text;
  return Math.imul(hashOn(hash, text, Math.min(length, SEEN_CHARACTERS)) ^ length, 0x01000193);
}
