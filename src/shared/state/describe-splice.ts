// Tells how a list that took the place of a history came of it: which entries stayed, which are left in part, and what was
// written in place of others. Texts of the history are named by their places; only what was written is kept.

import { withResult } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
import type { BlockOrigin, JournalRecord, SplicePiece } from './journal-record.js';
import { textOfBlock } from './plain-text.js';

/** Describes a rewrite; as `unknown` when the new list holds what the former did not and nobody may write. */
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
  const origins = new OriginsOf(former, new Set(contents));
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
      pieces.push({ kind: 'written', entry: JSON.stringify(content) });
    } else return { kind: 'unknown', at };
  }
  return { kind: 'splice', at, pieces };
}

/**
 * Whether a block may be written by who makes a history smaller. Calls, results and reasoning come from a model and its tools:
 * whatever a journal says, they are taken from the history and from nowhere else.
 */
export function mayBeWritten({ type }: { readonly type: string }): boolean {
  return type !== 'tool_call' && type !== 'tool_response' && type !== 'thinking';
}

/** The same object may stand at several places: the first one that was not passed is it. */
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

/** Finds the entries that others are left of, by what they share. */
class OriginsOf {
  readonly #former: readonly IContent[];
  readonly #kept: ReadonlySet<IContent>;
  #byPart: Map<object | string, number[]> | undefined;

  constructor(former: readonly IContent[], kept: ReadonlySet<IContent>) {
    this.#former = former;
    this.#kept = kept;
  }

  /** The first entry from a place on that this one may be left of, and how. */
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
        const described = describeBlocks(blocks, entry.blocks);
        if (described !== undefined) return { origin, blocks: described };
      }
    }
    return undefined;
  }

  #listParts(): Map<object | string, number[]> {
    const parts = new Map<object | string, number[]>();
    const note = (part: object | string, index: number): void => {
      const known = parts.get(part);
      if (known === undefined) parts.set(part, [index]);
      else if (known.at(-1) !== index) known.push(index);
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
  former: readonly ContentBlock[],
): readonly BlockOrigin[] | undefined {
  const described: BlockOrigin[] = [];
  for (const block of blocks) {
    const one = describeBlock(block, former);
    if (one === undefined) return undefined;
    described.push(one);
  }
  return described;
}

function describeBlock(
  block: ContentBlock,
  blocks: readonly ContentBlock[],
): BlockOrigin | undefined {
  const place = blocks.indexOf(block);
  if (place !== -1) return place;
  if (block.type !== 'tool_response') return mayBeWritten(block) ? block : undefined;
  const { callId, result } = block;
  if (typeof result !== 'string') return undefined;
  const text = textOfBlock(block);
  // Several results may have the id of one call.
  const answered = blocks.findIndex(
    (other) =>
      other.type === 'tool_response' &&
      other.callId === callId &&
      textOfBlock(withResult(other, result)) === text,
  );
  return answered === -1 ? undefined : [answered, result];
}
