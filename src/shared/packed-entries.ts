// What is sent of entries to a worker, and the binary format in which many of them are: texts as UTF-8, everything else as integers.
// `main/offload/pack-entries.ts` writes it and `worker/unpack-entries.ts` reads it, both by one table of fields.

import type { ContentBlock, Speaker } from './content.js';

/** Entries in two arrays, in shared memory where available. */
export interface PackedEntries {
  readonly entries: number;
  /** Number of blocks in all entries. */
  readonly blocks: number;
  /** All texts, concatenated. */
  readonly bytes: Uint8Array;
  /**
   * Per entry: its speaker combined with `ENTRY_BIT`s, and its number of blocks. Per block: its type, its flags, and the fields that it
   * has, a text as its length in bytes, a number as itself.
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

/** Flags of an entry, above the two bits of the speaker. */
export const ENTRY_BIT = { summary: 4, synthetic: 8 } as const;

/**
 * How a field is packed. `words`: a text whose tokens count. `text`: one whose tokens do not, and which is left out where entries are only
 * counted; `type`: one that is always read, because tokens depend on it. `payload`: words, or a value as JSON. `mark`: only that it
 * is there, as an empty text.
 */
export type PackedAs = 'words' | 'text' | 'type' | 'payload' | 'number' | 'flag' | 'mark';

/**
 * The fields of each type of block that a worker is sent, in the order in which they are packed. Others, which can be large or agents
 * may add, are not sent. Of media and encrypted reasoning only the presence is, because it decides whether a block carries content.
 */
const POSTED: {
  readonly [Type in ContentBlock['type']]: {
    readonly [Field in keyof Extract<ContentBlock, { type: Type }>]?: PackedAs;
  };
} = {
  text: { text: 'words' },
  code: { code: 'words', language: 'words' },
  media: { mimeType: 'type', data: 'mark', encoding: 'text', caption: 'words', filename: 'words' },
  thinking: { thought: 'words', encryptedContent: 'mark' },
  tool_call: {
    ...{ id: 'text', name: 'words', parameters: 'payload' },
    ...{ parallelGroup: 'text', hasFixedParameters: 'flag' },
  },
  tool_response: {
    ...{ callId: 'text', toolName: 'words', result: 'payload' },
    ...{ error: 'words', isComplete: 'flag', mediaTokens: 'number' },
  },
  opaque: { kind: 'text', tokens: 'number', callId: 'text' },
};

/** Types of blocks by number. */
export const BLOCK_TYPES = Object.keys(POSTED) as readonly ContentBlock['type'][];

/** A field of a block, and how it is packed. */
export type PackedField = readonly [field: string, as: PackedAs];

type PostedFields = Readonly<Record<ContentBlock['type'], readonly PackedField[]>>;

/** By type of block, the fields that a worker is sent. */
export const POSTED_FIELDS: PostedFields = Object.fromEntries(
  Object.entries(POSTED).map(([type, fields]) => [type, Object.entries(fields)]),
) as unknown as PostedFields;

/** Flags of a block: one for each field that it has, by place in the table; and the same shifted by this for a payload in JSON. */
export const JSON_SHIFT = 8;
