// Decodes packed entries, and counts the tokens of their texts from bytes.

import type { ContentBlock, IContent } from '../shared/content.js';
import { NONE } from '../shared/density/index/history-columns.js';
import {
  BLOCK_TYPES,
  ENTRY_BIT,
  JSON_SHIFT,
  POSTED_FIELDS,
  SPEAKERS,
} from '../shared/packed-entries.js';
import type {
  PackedAs,
  PackedCounts,
  PackedEntries,
  PackedField,
} from '../shared/packed-entries.js';
import type { DeltaStep } from '../shared/resident-protocol.js';
import { ENTRY_OVERHEAD_TOKENS, fixedBlockTokens } from '../shared/tokens/content-text.js';
import type { EntryMeasure } from '../shared/tokens/count-tokens.js';
import type { MeasuredEntry } from './resident-facts.js';

/** Counts the tokens of UTF-8 bytes; `end` is exclusive. */
export type CountBytes = (bytes: Uint8Array, start: number, end: number) => number;

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Decodes UTF-8. */
export function textOfBytes(bytes: Uint8Array, start: number, end: number): string {
  return start === end ? '' : decoder.decode(bytes.subarray(start, end));
}

/** Packed entries, and what is already known of their tokens. */
type PackedStage = Omit<DeltaStep & { readonly kind: 'stage-packed' }, 'kind'>;

/**
 * Decodes entries lazily.
 *
 * @param countBytes counts entries whose tokens are not known; without it nothing is counted
 */
export function* unpackEntries(
  { packed, knownTokens, counts }: PackedStage,
  countBytes: CountBytes | undefined,
): Generator<MeasuredEntry, void, undefined> {
  const reader = new PackedReader(packed);
  let blocks = 0;
  for (let at = 0; at < packed.entries; at += 1) {
    const known = knownTokens[at] ?? NONE;
    const isOpen = known === NONE;
    const entry = reader.next(isOpen && counts === undefined ? countBytes : undefined);
    const { content, measure } = entry;
    const first = 2 * blocks;
    blocks += content.blocks.length;
    if (measure !== undefined) yield { content, tokens: measure.tokens, measure };
    else if (!isOpen || counts === undefined) yield { content, tokens: known, measure: undefined };
    else {
      const tokens = counts.tokens[at] ?? NONE;
      yield { content, tokens, measure: measureAt(counts, tokens, first, 2 * blocks) };
    }
  }
}

/** Counts packed entries without making strings. */
export function countPacked(
  packed: PackedEntries,
  knownTokens: Int32Array,
  countBytes: CountBytes,
): PackedCounts {
  const reader = new PackedReader(packed, true);
  const tokens = Int32Array.from(knownTokens);
  const blocks = new Int32Array(2 * packed.blocks).fill(NONE);
  let next = 0;
  for (let at = 0; at < packed.entries; at += 1) {
    const isOpen = tokens[at] === NONE;
    const { content, measure } = reader.next(isOpen ? countBytes : undefined);
    if (measure === undefined) {
      next += 2 * content.blocks.length;
      continue;
    }
    tokens[at] = measure.tokens;
    for (let block = 0; block < measure.blocks.length; block += 1) {
      blocks[next++] = measure.blocks[block] ?? 0;
      blocks[next++] = measure.results[block] ?? 0;
    }
  }
  return { tokens, blocks };
}

function measureAt(
  { blocks }: PackedCounts,
  tokens: number,
  start: number,
  end: number,
): EntryMeasure {
  const [all, results]: [number[], number[]] = [[], []];
  for (let at = start; at < end; at += 2) {
    all.push(blocks[at] ?? NONE);
    results.push(blocks[at + 1] ?? NONE);
  }
  return { tokens, blocks: all, results };
}

class PackedReader {
  readonly #bytes: Uint8Array;
  readonly #numbers: Int32Array;
  readonly #isCountedOnly: boolean;
  #number = 0;
  #start = 0;
  #countBytes: CountBytes | undefined;
  /** Tokens of the current block's texts; `#resultTokens` are those of them in its result. */
  #tokens = 0;
  #resultTokens = 0;

  /** @param isCountedOnly whether texts are only counted */
  constructor({ bytes, numbers }: PackedEntries, isCountedOnly: boolean = false) {
    this.#bytes = bytes;
    this.#numbers = numbers;
    this.#isCountedOnly = isCountedOnly;
  }

  next(countBytes: CountBytes | undefined): Omit<MeasuredEntry, 'tokens'> {
    this.#countBytes = countBytes;
    const head = this.#integer();
    const speaker = SPEAKERS[head & 3] ?? 'human';
    const length = this.#integer();
    const blocks: ContentBlock[] = [];
    const tokensOf: number[] = [];
    const results: number[] = [];
    let tokens = ENTRY_OVERHEAD_TOKENS;
    for (let at = 0; at < length; at += 1) {
      this.#tokens = 0;
      this.#resultTokens = 0;
      const block = this.#block();
      blocks.push(block);
      if (countBytes === undefined) continue;
      if (block.type === 'tool_response') this.#resultTokens += block.mediaTokens ?? 0;
      const all = this.#tokens + fixedBlockTokens(block);
      tokensOf.push(all);
      results.push(this.#resultTokens);
      tokens += all;
    }
    const isSummary = (head & ENTRY_BIT.summary) !== 0;
    const synthetic = (head & ENTRY_BIT.synthetic) !== 0;
    const metadata = { ...(isSummary && { isSummary }), ...(synthetic && { synthetic }) };
    const content: IContent = { speaker, blocks, ...((isSummary || synthetic) && { metadata }) };
    const measure = countBytes && { tokens, blocks: tokensOf, results };
    return { content, measure };
  }

  #block(): ContentBlock {
    const type = BLOCK_TYPES[this.#integer()] ?? 'text';
    const flags = this.#integer();
    const fields = POSTED_FIELDS[type];
    const block: Record<string, unknown> = { type };
    for (let place = 0; place < fields.length; place += 1) {
      const [field, as] = fields[place] as PackedField;
      if ((flags & (1 << place)) === 0) continue;
      const before = this.#tokens;
      block[field] = this.#value(as, (flags & (1 << (JSON_SHIFT + place))) !== 0);
      if (field === 'result') this.#resultTokens = this.#tokens - before;
    }
    return block as unknown as ContentBlock;
  }

  #value(as: PackedAs, isJson: boolean): unknown {
    switch (as) {
      case 'words':
        return this.#words();
      case 'payload': {
        const text = this.#words();
        return isJson && !this.#isCountedOnly ? (JSON.parse(text) as unknown) : text;
      }
      case 'text':
        return this.#text(!this.#isCountedOnly);
      case 'type':
        return this.#text(true);
      case 'number':
        return this.#integer();
      case 'flag':
        return this.#integer() === 1;
      case 'mark':
        return '';
    }
  }

  #integer(): number {
    return this.#numbers[this.#number++] ?? 0;
  }

  /** Reads a text, and counts it. */
  #words(): string {
    const start = this.#start;
    const text = this.#text(!this.#isCountedOnly);
    if (this.#countBytes !== undefined && this.#start > start) {
      this.#tokens += this.#countBytes(this.#bytes, start, this.#start);
    }
    return text;
  }

  #text(isKept: boolean): string {
    const start = this.#start;
    this.#start += this.#integer();
    return isKept ? textOfBytes(this.#bytes, start, this.#start) : '';
  }
}
