// Entries on their way to a worker as bytes: texts as UTF-8 in a row, all else as a row of integers. How they are written
// and read is said elsewhere, in the same order of fields.

import type { ContentBlock, Speaker } from './content.js';

/** Entries in two arrays, in memory that threads share where there is such memory. */
export interface PackedEntries {
  readonly entries: number;
  /** Blocks of them all. */
  readonly blocks: number;
  /** The texts, one after the other. */
  readonly bytes: Uint8Array;
  /**
   * Of each entry its speaker, `ENTRY_BIT` above it, and how many blocks it has; of each block its kind, `BLOCK_BIT`, and then its
   * fields: of a text the bytes that it takes, of a number itself.
   */
  readonly numbers: Int32Array;
}

/** The tokens of packed entries. */
export interface PackedCounts {
  /** Of each entry. */
  readonly tokens: Int32Array;
  /** Of each block of each entry, all of it, and what of that is the result of a tool; -1 where the entry was counted elsewhere. */
  readonly blocks: Int32Array;
}

/** Speakers by their number. */
export const SPEAKERS: readonly Speaker[] = ['human', 'ai', 'tool'];

/** Kinds of blocks by their number. */
export const BLOCK_KINDS: readonly ContentBlock['type'][] = [
  'text',
  'code',
  'thinking',
  'tool_call',
  'tool_response',
  'media',
  'opaque',
];

/** What an entry says besides its blocks. */
export const ENTRY_BIT = { summary: 4, synthetic: 8 } as const;

/** What a block has: a bit is of one kind of block, and may be of another one as well. */
export const BLOCK_BIT = {
  /** A second text: a language, a caption, the group of a call, the error of a response, the call of what is opaque. */
  second: 1,
  /** A third one: the name of a medium's file. */
  third: 2,
  /** Encrypted reasoning, or a medium that is no URL. */
  sealed: 4,
  partial: 8,
  complete: 16,
  mediaTokens: 32,
} as const;

/** How a payload is written: shifted by `PAYLOAD_SHIFT`, beside the bits of its block. */
export const PAYLOAD = { text: 0, json: 1, absent: 2, zero: 3, one: 4 } as const;
export const PAYLOAD_SHIFT = 8;
