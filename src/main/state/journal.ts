// The journal of one history: what was added to it, as far as that tells it from others, and what landed in it since. It
// grows where edits land; makes none and applies none.

import type { IContent } from '../../shared/content.js';
import type { DensityResult } from '../../shared/density.js';
import { describeEdit, rowSettingsOf } from '../../shared/state/describe-edit.js';
import { describeSplice } from '../../shared/state/describe-splice.js';
import { JournalWriter } from '../../shared/state/journal-record.js';
import type { JournalRecord, PackedJournal } from '../../shared/state/journal-record.js';
import { HistoryTrace } from './history-trace.js';
import { HistoryDigest } from './history-digest.js';
import type { EntryDigests } from './history-digest.js';

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
