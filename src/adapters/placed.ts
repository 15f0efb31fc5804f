// Gives a block the place that it stands for, as all formats do, and tells by it what a history has left of a message.

import type { ContentBlock, IContent } from '../shared/content.js';
import type { Origin, PlacedBlock, PlacedEntry } from './message-format.js';

/** The block, with the index of its message in the conversation and of its part in that. */
export function placed(block: ContentBlock, message: number, part: number): PlacedBlock {
  return { ...block, origin: [message, part] };
}

/** The blocks, one for each part of a message in their order. */
export function placedInOrder(
  blocks: readonly ContentBlock[],
  message: number,
): readonly PlacedBlock[] {
  return blocks.map((block, part) => placed(block, message, part));
}

export function isPlaced(block: ContentBlock): block is PlacedBlock {
  return 'origin' in block;
}

/** Messages or entries that are looked at before others may have a turn: some tenths of a millisecond. */
export const PER_SLICE = 64;

/** What a history has of messages of which nothing was edited before. */
export interface FirstEdits {
  /** The numbers of the messages of which blocks are there no more, and these. */
  readonly messages: ReadonlySet<number>;
  readonly gone: ReadonlySet<PlacedBlock>;
  /** Those in their place. */
  readonly others: ReadonlyMap<Origin, PlacedBlock>;
  /** Whether something stands there that was read of no message. */
  readonly hasWritten: boolean;
}

/**
 * Finds what a history has of the entries that were read, in slices: most of them are there as they were, and are not looked
 * into. What it takes for gone and finds later is among the others.
 */
export function* findFirstEdits(
  read: readonly PlacedEntry[],
  history: readonly IContent[],
): Generator<void, FirstEdits, undefined> {
  const messages = new Set<number>();
  const gone = new Set<PlacedBlock>();
  const others = new Map<Origin, PlacedBlock>();
  let hasWritten = false;
  let next = 0;
  const pass = (): void => {
    for (const block of read[next]?.blocks ?? []) {
      messages.add(block.origin[0]);
      gone.add(block);
    }
    next += 1;
  };
  let passed = 0;
  for (const entry of history) {
    passed += 1;
    if (passed % (4 * PER_SLICE) === 0) yield;
    if (read[next] !== entry) {
      const blocks = entry.blocks.filter(isPlaced);
      const [first] = blocks;
      if (first === undefined) {
        hasWritten ||= entry.blocks.length > 0;
        continue;
      }
      while (next < read.length && read[next] !== entry && !isBehind(read[next], first)) pass();
      if (read[next] !== entry) {
        for (const block of blocks) others.set(block.origin, block);
        continue;
      }
    }
    next += 1;
  }
  while (next < read.length) pass();
  return { messages, gone, others, hasWritten };
}

function isBehind(
  entry: PlacedEntry | undefined,
  { origin: [message, part] }: PlacedBlock,
): boolean {
  const [first] = entry?.blocks ?? [];
  if (first === undefined) return false;
  const { origin } = first;
  return origin[0] > message || (origin[0] === message && origin[1] > part);
}

/** What a history has of messages. */
export interface OtherwiseLeft {
  /** By message, 1 when all is there that was left of it and no more, in the same order: as of most. */
  readonly isAsLeft: Uint8Array;
  /** The blocks of all others. */
  readonly others: ReadonlyMap<Origin, PlacedBlock>;
}

/** Finds of which messages a history has something else than what was left of them, in slices. */
export function* findOthers(
  messages: readonly { readonly left: readonly PlacedBlock[] }[],
  history: readonly IContent[],
): Generator<void, OtherwiseLeft, undefined> {
  const seen = new Int32Array(messages.length);
  for (const [number, { blocks }] of history.entries()) {
    if (number % PER_SLICE === 0) yield;
    for (const block of blocks) {
      if (!isPlaced(block)) continue;
      const [message] = block.origin;
      const at = seen[message] ?? -1;
      if (at >= 0) seen[message] = messages[message]?.left[at] === block ? at + 1 : -1;
    }
  }
  const isAsLeft = Uint8Array.from(messages, ({ left }, at) => (seen[at] === left.length ? 1 : 0));
  const others = new Map<Origin, PlacedBlock>();
  for (const [number, { blocks }] of history.entries()) {
    if (number % PER_SLICE === 0) yield;
    for (const block of blocks) {
      if (isPlaced(block) && isAsLeft[block.origin[0]] === 0) others.set(block.origin, block);
    }
  }
  return { isAsLeft, others };
}
