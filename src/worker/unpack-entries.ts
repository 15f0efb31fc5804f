// Decodes packed entries, and counts the tokens of their texts from bytes.

import type { ContentBlock, IContent } from '../shared/content.js';
import { NONE } from '../shared/density/index/history-columns.js';
import {
  BLOCK_BIT,
  BLOCK_KINDS,
  ENTRY_BIT,
  PAYLOAD,
  PAYLOAD_SHIFT,
  SPEAKERS,
} from '../shared/packed-entries.js';
import type { PackedCounts, PackedEntries } from '../shared/packed-entries.js';
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
    const type = BLOCK_KINDS[this.#integer()];
    const bits = this.#integer();
    const has = (bit: number): boolean => (bits & bit) !== 0;
    switch (type) {
      case 'code': {
        const code = this.#text();
        const language = this.#optional(has(BLOCK_BIT.second));
        return { type, code, ...(language !== undefined && { language }) };
      }
      case 'thinking': {
        const thought = this.#text();
        return { type, thought, ...(has(BLOCK_BIT.sealed) && { encryptedContent: '' }) };
      }
      case 'tool_call': {
        const [id, name] = [this.#uncounted(), this.#text()];
        const parameters = this.#payload(bits);
        return {
          ...{ type, id, name, parameters },
          ...(has(BLOCK_BIT.second) && { parallelGroup: this.#uncounted() }),
          ...(has(BLOCK_BIT.sealed) && { hasFixedParameters: true }),
        };
      }
      case 'tool_response': {
        const [callId, toolName] = [this.#uncounted(), this.#text()];
        const before = this.#tokens;
        const result = this.#payload(bits);
        this.#resultTokens = this.#tokens - before;
        const error = this.#optional(has(BLOCK_BIT.second));
        const mediaTokens = this.#integer();
        return {
          ...{ type, callId, toolName, result },
          ...(error !== undefined && { error }),
          ...(has(BLOCK_BIT.partial) && { isComplete: false }),
          ...(has(BLOCK_BIT.complete) && { isComplete: true }),
          ...(has(BLOCK_BIT.mediaTokens) && { mediaTokens }),
        };
      }
      case 'media': {
        // Always decoded, because the tokens of media depend on it.
        const mimeType = this.#uncounted(true);
        const caption = this.#optional(has(BLOCK_BIT.second));
        const filename = this.#optional(has(BLOCK_BIT.third));
        const encoding = has(BLOCK_BIT.sealed) ? 'base64' : 'url';
        return {
          ...{ type, mimeType, data: '', encoding },
          ...(caption !== undefined && { caption }),
          ...(filename !== undefined && { filename }),
        };
      }
      case 'opaque': {
        const kind = this.#uncounted();
        const callId = has(BLOCK_BIT.second) ? this.#uncounted() : undefined;
        const tokens = this.#integer();
        return { type, kind, tokens, ...(callId !== undefined && { callId }) };
      }
      default:
        return { type: 'text', text: this.#text() };
    }
  }

  #integer(): number {
    return this.#numbers[this.#number++] ?? 0;
  }

  #payload(bits: number): unknown {
    switch (bits >> PAYLOAD_SHIFT) {
      case PAYLOAD.absent:
        return undefined;
      case PAYLOAD.json:
        return this.#isCountedOnly ? this.#text() : (JSON.parse(this.#text()) as unknown);
      default:
        return this.#text();
    }
  }

  #optional(isThere: boolean): string | undefined {
    return isThere ? this.#text() : undefined;
  }

  #text(): string {
    const start = this.#start;
    const end = this.#skip();
    this.#count(start, end);
    return this.#isCountedOnly ? '' : textOfBytes(this.#bytes, start, end);
  }

  #uncounted(isKept: boolean = !this.#isCountedOnly): string {
    const start = this.#start;
    const end = this.#skip();
    return isKept ? textOfBytes(this.#bytes, start, end) : '';
  }

  #skip(): number {
    this.#start += this.#integer();
    return this.#start;
  }

  #count(start: number, end: number): void {
    if (this.#countBytes !== undefined && end > start) {
      this.#tokens += this.#countBytes(this.#bytes, start, end);
    }
  }
}
