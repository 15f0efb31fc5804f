// Describes how a new list of entries was derived from a history: which entries are unchanged, which were edited, and which
// are new. Refers to content of the history by position; stores only new content.

import { withResult } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
import type { DensityResult } from '../density.js';
import { checksumOfResult } from './journal-record.js';
import type { BlockOrigin, JournalRecord, SplicePiece } from './journal-record.js';
import { textOfBlock } from './canonical-text.js';
import { pushTo } from '../lists-by-key.js';
import { referringResult } from './without-references.js';

/**
 * Describes a rewrite. Linear in both lists. The record is `unknown` if the list has new blocks that only the history may provide, see
 * `mayBeWritten`.
 */
export function describeSplice(
  at: number,
  former: readonly IContent[],
  contents: readonly IContent[],
): JournalRecord {
  const places = new Map<IContent, number>();
  for (let index = former.length - 1; index >= 0; index -= 1) {
    const entry = former[index];
    if (entry !== undefined) places.set(entry, index);
  }
  const pieces: SplicePiece[] = [];
  const origins = new OriginFinder(former, new Set(contents));
  let next = 0;
  for (const content of contents) {
    const place = placeFrom(former, places, content, next);
    if (place !== undefined) {
      const last = pieces.at(-1);
      if (place === next && last?.kind === 'stay') {
        pieces[pieces.length - 1] = { ...last, kept: last.kept + 1 };
      } else pieces.push({ kind: 'stay', skipped: place - next, kept: 1 });
      next = place + 1;
      continue;
    }
    const edited = origins.find(content, next);
    if (edited !== undefined) {
      pieces.push({ kind: 'edited', skipped: edited.origin - next, blocks: edited.blocks });
      next = edited.origin + 1;
    } else if (content.blocks.every(mayBeWritten)) {
      pieces.push({ kind: 'written', entry: content });
    } else return { kind: 'unknown', at };
  }
  return { kind: 'splice', at, pieces };
}

/**
 * Describes an edit like the rewrite that it amounts to. Reads only the changed entries.
 *
 * @param former the history before the edit
 */
export function describeChanges(
  at: number,
  former: readonly IContent[],
  { removals, replacements }: Pick<DensityResult, 'removals' | 'replacements'>,
): JournalRecord {
  const pieces: SplicePiece[] = [];
  let [next, skipped] = [0, 0];
  const stayUpTo = (end: number): void => {
    if (end === next) return;
    pieces.push({ kind: 'stay', skipped, kept: end - next });
    skipped = 0;
  };
  for (const index of [...removals, ...replacements.keys()].sort((a, b) => a - b)) {
    stayUpTo(index);
    next = index + 1;
    const after = replacements.get(index);
    const blocks = after && blocksFrom(former[index], after);
    if (blocks !== undefined) {
      pieces.push({ kind: 'edited', skipped, blocks });
      skipped = 0;
      continue;
    }
    skipped += 1;
    if (after === undefined) continue;
    if (!after.blocks.every(mayBeWritten)) return { kind: 'unknown', at };
    pieces.push({ kind: 'written', entry: after });
  }
  stayUpTo(former.length);
  return { kind: 'splice', at, pieces };
}

/** How the blocks of an edited entry derive from those before; `undefined` if they do not, or anything else has changed. */
function blocksFrom(
  before: IContent | undefined,
  { speaker, blocks, metadata }: IContent,
): readonly BlockOrigin[] | undefined {
  if (before?.speaker !== speaker || before.metadata !== metadata) return undefined;
  return describeBlocks(blocks, new BlockPlaces(before.blocks));
}

/**
 * Whether a compaction may add a block of this type. Calls, results and reasoning come from the model and its tools, so they
 * are only ever taken from the history, whatever a journal says.
 */
export function mayBeWritten({ type }: { readonly type: string }): boolean {
  return type !== 'tool_call' && type !== 'tool_response' && type !== 'thinking';
}

/** The first index of an entry at or after `next`, because the same object may occur several times; `undefined` if there is none. */
function placeFrom(
  former: readonly IContent[],
  places: ReadonlyMap<IContent, number>,
  content: IContent,
  next: number,
): number | undefined {
  const place = places.get(content);
  if (place === undefined || place >= next) return place;
  const later = former.indexOf(content, next);
  return later === -1 ? undefined : later;
}

/** Finds the original of an edited entry, by blocks or ids of answered calls that both have. */
class OriginFinder {
  readonly #former: readonly IContent[];
  readonly #kept: ReadonlySet<IContent>;
  #byPart: Map<object | string, number[]> | undefined;
  /** Cache: the indexes of the blocks in the last candidate. */
  #blocks: { readonly of: readonly ContentBlock[]; readonly places: BlockPlaces } | undefined;

  constructor(former: readonly IContent[], kept: ReadonlySet<IContent>) {
    this.#former = former;
    this.#kept = kept;
  }

  /** The first possible origin at or after `from`, and how the blocks derive from it. */
  find(
    { speaker, blocks, metadata }: IContent,
    from: number,
  ): { readonly origin: number; readonly blocks: readonly BlockOrigin[] } | undefined {
    this.#byPart ??= this.#listParts();
    for (const block of blocks) {
      const known = this.#byPart.get(block) ?? this.#byPart.get(answerOf(block) ?? '') ?? [];
      for (const origin of known) {
        const entry = this.#former[origin];
        if (origin < from || entry?.speaker !== speaker || entry.metadata !== metadata) continue;
        const described = describeBlocks(blocks, this.#placesIn(entry.blocks));
        if (described !== undefined) return { origin, blocks: described };
      }
    }
    return undefined;
  }

  #placesIn(blocks: readonly ContentBlock[]): BlockPlaces {
    if (this.#blocks?.of !== blocks) this.#blocks = { of: blocks, places: new BlockPlaces(blocks) };
    return this.#blocks.places;
  }

  #listParts(): Map<object | string, number[]> {
    const parts = new Map<object | string, number[]>();
    const note = (part: object | string, index: number): void => {
      if (parts.get(part)?.at(-1) !== index) pushTo(parts, part, index);
    };
    this.#former.forEach((entry, index) => {
      if (this.#kept.has(entry)) return;
      for (const block of entry.blocks) {
        note(block, index);
        const answer = answerOf(block);
        if (answer !== undefined) note(answer, index);
      }
    });
    return parts;
  }
}

function answerOf(block: ContentBlock): string | undefined {
  return block.type === 'tool_response' ? `response ${block.callId}` : undefined;
}

function describeBlocks(
  blocks: readonly ContentBlock[],
  former: BlockPlaces,
): readonly BlockOrigin[] | undefined {
  const described = blocks.map((block) => former.describe(block));
  return described.every((origin) => origin !== undefined) ? described : undefined;
}

/** Indexes the blocks of one entry. */
class BlockPlaces {
  readonly #blocks: readonly ContentBlock[];
  readonly #places = new Map<ContentBlock, number>();
  /** Indexes of results by answered call; several results may have the same call id. */
  readonly #answers = new Map<string, number[]>();

  constructor(blocks: readonly ContentBlock[]) {
    this.#blocks = blocks;
    for (const [place, block] of blocks.entries()) {
      if (!this.#places.has(block)) this.#places.set(block, place);
      const answer = answerOf(block);
      if (answer === undefined) continue;
      pushTo(this.#answers, answer, place);
    }
  }

  /** How a block derives from those of the entry; a new block is its own origin. `undefined` if the block may not be new. */
  describe(block: ContentBlock): BlockOrigin | undefined {
    const place = this.#places.get(block);
    if (place !== undefined) return place;
    if (block.type !== 'tool_response') return mayBeWritten(block) ? block : undefined;
    const { result } = block;
    if (typeof result !== 'string') return undefined;
    const referring = this.#places.get(referringResult(block) ?? block);
    if (referring !== undefined) return [referring, checksumOfResult(result)];
    const text = textOfBlock(block);
    const answered = this.#answers.get(answerOf(block) ?? '')?.find((at) => {
      const other = this.#blocks[at];
      return other?.type === 'tool_response' && textOfBlock(withResult(other, result)) === text;
    });
    return answered === undefined ? undefined : [answered, result];
  }
}
