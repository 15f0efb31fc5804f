// The journal of one history: what was added to it, as far as that tells it from others, and what landed in it since. It
// grows where edits land; makes none and applies none.

import type { IContent, ContentBlock } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { describeEdit, rowSettingsOf } from '../../shared/state/describe-edit.js';
import { describeSplice } from '../../shared/state/describe-splice.js';
import { JournalWriter } from '../../shared/state/journal-record.js';
import type { JournalRecord, PackedJournal } from '../../shared/state/journal-record.js';
import { HistoryDigest } from './history-digest.js';
import type { EntryDigests } from './history-digest.js';
import { hashOn, hashSeed } from '../../shared/density/index/hash.js';

/** The journal of a history since it began, or was cleared. */
export class Journal {
  readonly trace: HistoryTrace;
  readonly digest: HistoryDigest;
  /** The entries that were added, where they are kept to be gone on from in another way; else `undefined`. */
  readonly added: IContent[] | undefined;
  #writer = new JournalWriter();
  #settings: string | undefined;
  #count = 0;

  /** @param digests of entries that need not be hashed again */
  constructor(keepsAdded: boolean = false, digests?: EntryDigests) {
    this.added = keepsAdded ? [] : undefined;
    // A store knows histories by their digests.
    this.trace = new HistoryTrace(!keepsAdded);
    // Who keeps them has a store, which asks after each turn.
    this.digest = new HistoryDigest({ known: digests, isHashedAhead: keepsAdded });
  }

  /** Entries that were added. */
  get length(): number {
    return this.trace.length;
  }

  /** How much has landed: edits and rewrites. */
  get count(): number {
    return this.#count;
  }

  get packed(): PackedJournal {
    return this.#writer.packed;
  }

  /** Notes an entry that was added. */
  add(entry: IContent): void {
    this.trace.add(entry);
    this.digest.add(entry);
    this.added?.push(entry);
  }

  /**
   * Notes an edit that lands.
   *
   * @param at entries that had been added to what it edits
   * @param former the history before it
   * @param records what it is made of, when all of that landed before
   */
  noteEdit(
    at: number,
    former: readonly IContent[],
    result: DensityResult,
    records?: JournalRecords,
  ): void {
    for (const index of [...result.removals, ...result.replacements.keys()]) {
      this.#noteGone(former[index]);
    }
    if (records !== undefined) {
      this.#adopt(records);
      return;
    }
    const settings = rowSettingsOf(result);
    if (settings !== undefined) this.#noteSettings({ kind: 'settings', settings });
    this.note(describeEdit(at, former, result));
  }

  /** Notes that another list takes the place of the history. */
  noteRewrite(at: number, former: readonly IContent[], contents: readonly IContent[]): void {
    const kept = new Set(contents);
    for (const entry of former) if (!kept.has(entry)) this.#noteGone(entry);
    this.note(describeSplice(at, former, contents));
  }

  /** Notes a record that was made before, of the same entries. */
  note(record: JournalRecord): void {
    if (record.kind === 'settings') {
      this.#noteSettings(record);
      return;
    }
    this.#writer.add(record);
    this.#count += 1;
  }

  /** Notes what stands of a history, after all that landed in it was noted. */
  noteStanding(entries: readonly IContent[]): void {
    this.#writer.leaveAllBut(entries);
  }

  /** What has landed, to be adopted by another one; this one is not to be used any more. */
  get records(): JournalRecords {
    return { packed: this.#writer, count: this.#count, settings: this.#settings };
  }

  #noteGone(entry: IContent | undefined): void {
    if (entry === undefined) return;
    this.#writer.leave(entry);
    // Those that are kept are not gone.
    if (this.added === undefined) this.digest.leave(entry);
  }

  #adopt({ packed, count, settings }: JournalRecords): void {
    this.#writer = packed;
    this.#count = count;
    this.#settings = settings;
  }

  #noteSettings(record: JournalRecord & { readonly kind: 'settings' }): void {
    const settings = JSON.stringify(record.settings);
    if (settings === this.#settings) return;
    this.#settings = settings;
    this.#writer.add(record);
  }
}

/** What has landed in a history. */
export interface JournalRecords {
  readonly packed: JournalWriter;
  readonly count: number;
  readonly settings: string | undefined;
}

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
