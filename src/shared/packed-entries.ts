// The binary format in which entries are sent to a worker: texts as UTF-8, everything else as integers.
// `main/offload/pack-entries.ts` writes it and `worker/unpack-entries.ts` reads it, in the same order of fields.

import type { ContentBlock, Speaker } from './content.js';

/** Entries in two arrays, in shared memory where available. */
export interface PackedEntries {
  readonly entries: number;
  /** Number of blocks in all entries. */
  readonly blocks: number;
  /** All texts, concatenated. */
  readonly bytes: Uint8Array;
  /**
   * Per entry: its speaker combined with `ENTRY_BIT`s, and its number of blocks. Per block: its kind, its `BLOCK_BIT`s, and its
   * fields, a text as its length in bytes, a number as itself.
   */
  readonly numbers: Int32Array;
}

/** The tokens of packed entries. */
export interface PackedCounts {
  /** Per entry. */
  readonly tokens: Int32Array;
  /** Two numbers per block: its tokens, and those of them in a tool's result. -1 if the entry was counted elsewhere. */
  readonly blocks: Int32Array;
}

/** Speakers by number. */
export const SPEAKERS: readonly Speaker[] = ['human', 'ai', 'tool'];

/** Kinds of blocks by number. */
export const BLOCK_KINDS: readonly ContentBlock['type'][] = [
  'text',
  'code',
  'thinking',
  'tool_call',
  'tool_response',
  'media',
  'opaque',
];

/** Flags of an entry, above the two bits of the speaker. */
export const ENTRY_BIT = { summary: 4, synthetic: 8 } as const;

/** Flags of a block; their meaning depends on its kind. */
export const BLOCK_BIT = {
  /** Has a second text: language, caption, a call's group, a response's error, an opaque block's call id. */
  second: 1,
  /** Has a third text: the file name of a media block. */
  third: 2,
  /** Encrypted reasoning, media as base64, or a call with fixed parameters. */
  sealed: 4,
  partial: 8,
  complete: 16,
  mediaTokens: 32,
} as const;

/** How a payload is encoded: in the flags of its block, shifted by `PAYLOAD_SHIFT`. */
export const PAYLOAD = { text: 0, json: 1, absent: 2 } as const;
export const PAYLOAD_SHIFT = 8;
