// The journal of one history: a fingerprint of the added entries, and the edits that landed. Also a cheap trace (a weak hash) that
// recognizes a history in this process. Makes and applies no edits.

import type { IContent, ContentBlock } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { hashOn, hashSeed } from '../../shared/density/index/hash.js';
import { describeEdit, rowSettingsOf } from '../../shared/state/describe-edit.js';
import { describeSplice } from '../../shared/state/describe-splice.js';
import { JournalWriter, readJournal } from '../../shared/state/journal-record.js';
import type { JournalRecord, PackedJournal } from '../../shared/state/journal-record.js';
import { HistoryDigest } from './history-digest.js';
import type { EntryDigests } from './history-digest.js';

/** The journal of a history since it began or was cleared. */
export class Journal {
  readonly trace: HistoryTrace = new HistoryTrace();
  readonly digest: HistoryDigest;
  /** The added entries, if they are kept so that another process's state can be adopted; else `undefined`. */
  readonly added: IContent[] | undefined;
  readonly #writer = new JournalWriter();
  #settings: string | undefined;
  #count = 0;

  /** @param digests known hashes of entries */
  constructor(keepsAdded: boolean = false, digests?: EntryDigests) {
    this.added = keepsAdded ? [] : undefined;
    this.digest = new HistoryDigest(digests);
  }

  /** Number of entries added. */
  get length(): number {
    return this.trace.length;
  }

  /** Number of edits and rewrites that have landed. */
  get count(): number {
    return this.#count;
  }

  /** Number of entries that had been added when the last edit landed; 0 if none has. */
  get lastAt(): number {
    return this.#writer.lastAt;
  }

  get packed(): PackedJournal {
    return this.#writer.packed;
  }

  add(entry: IContent): void {
    this.trace.add(entry);
    this.digest.add(entry);
    if (this.added === undefined) return;
    this.added.push(entry);
    // Added entries are kept only with a store, which needs the digest after each turn.
    this.digest.settleSoon();
  }

  /**
   * Records an edit that is about to land.
   *
   * @param at number of entries that had been added by then
   * @param former the history before the edit
   * @param replayed the journal of the edits of which this one consists, made on a copy
   */
  noteEdit(
    at: number,
    former: readonly IContent[],
    result: DensityResult,
    replayed?: Journal,
  ): void {
    for (const index of [...result.removals, ...result.replacements.keys()]) {
      this.#noteGone(former[index]);
    }
    if (replayed !== undefined) {
      for (const record of readJournal(replayed.packed)) this.note(record);
      return;
    }
    const settings = rowSettingsOf(result);
    if (settings !== undefined) this.#noteSettings({ kind: 'settings', settings });
    this.note(describeEdit(at, former, result));
  }

  /** Records that the list `contents` replaces the history. */
  noteRewrite(at: number, former: readonly IContent[], contents: readonly IContent[]): void {
    const kept = new Set(contents);
    for (const entry of former) if (!kept.has(entry)) this.#noteGone(entry);
    this.note(describeSplice(at, former, contents));
  }

  /** Takes over a record that was made earlier for the same entries. */
  note(record: JournalRecord): void {
    if (record.kind === 'settings') {
      this.#noteSettings(record);
      return;
    }
    this.#writer.add(record);
    this.#count += 1;
  }

  /** Notes which entries are left after replaying records. */
  noteRemaining(entries: readonly IContent[]): void {
    this.#writer.noteRemovedExcept(entries);
  }

  #noteGone(entry: IContent | undefined): void {
    if (entry === undefined) return;
    this.#writer.noteRemoved(entry);
    // Releases the entry.
    this.digest.settleSoon();
  }

  #noteSettings(record: JournalRecord & { readonly kind: 'settings' }): void {
    const settings = JSON.stringify(record.settings);
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#writer.add(record);
  }
}

/** Number of characters of a text that are hashed. */
const HASHED_CHARACTERS = 64;

/**
 * Recognizes a history by a weak hash of the first characters of each added entry, which is cheap. Collisions are possible: do not
 * use it to keep the histories of different users apart.
 */
export class HistoryTrace {
  #length = 0;
  #hash = hashSeed();

  /** Number of entries added. */
  get length(): number {
    return this.#length;
  }

  /** A key that is equal for histories with the same added entries. A number rather than a string, since thousands are kept. */
  get key(): number {
    return traceKey(this.#length, this.#hash);
  }

  add(entry: IContent): void {
    this.#length += 1;
    this.#hash = traceOn(this.#hash, entry);
  }
}

/** Continues the hash of a trace with the next entry. */
export function traceOn(hash: number, { speaker, blocks }: IContent): number {
  return blocks.reduce((now, block) => hashBlock(block, now), hashOn(hash, speaker));
}

/** The key of a trace. Contains the length, so that histories of different lengths never collide. */
export function traceKey(length: number, hash: number): number {
  return length * 2 ** 32 + (hash >>> 0);
}

function hashBlock(block: ContentBlock, hash: number): number {
  switch (block.type) {
    case 'text':
      return hashText(block.text, hash);
    case 'code':
      return hashText(block.code, hash);
    case 'thinking':
      return hashText(block.thought, hash);
    case 'tool_call':
      return hashText(block.name, hashText(block.id, hash));
    case 'tool_response': {
      const { callId, result } = block;
      return hashText(typeof result === 'string' ? result : '', hashText(callId, hash));
    }
    case 'media':
    case 'opaque':
      return hashOn(hash, block.type);
  }
}

/** Hashes the length as well, which separates adjacent texts. */
function hashText(text: string, hash: number): number {
  const { length } = text;
  return Math.imul(hashOn(hash, text, Math.min(length, HASHED_CHARACTERS)) ^ length, 0x01000193);
}
