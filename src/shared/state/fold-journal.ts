// Rebuilds the history that a session sends by applying a journal of landed edits to the caller's entries. Pure and deterministic:
// the result is the same in every process and on every thread. All content comes from the given entries, except for summaries.

import { callName, MAX_CALLS_BACK, nameWithPosition } from '../call-name.js';
import { withResult } from '../content.js';
import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { applyDensityResult, DEFAULT_DENSITY_CONFIG } from '../density.js';
import { isInclusion } from '../density/index/file-inclusions.js';
import { materializeWith, noteShrunk } from '../density/plan/materialize.js';
import type { MakeText, ResultReplacer } from '../density/plan/materialize.js';
import { PlanCursor, ROW_LENGTH } from '../density/plan/plan.js';
import { ACTION } from '../density/rules/marks.js';
import { assertIngestible } from '../ingestion.js';
import type { ShownElsewhere } from '../shrink/shown-before.js';
import { answeredCalls } from '../summarize/history-outline.js';
import type { CallOf } from '../summarize/history-outline.js';
import type { ToolCatalog } from '../tool-use.js';
import { pairingViolationsInSlices } from '../validity.js';
import { mayBeWritten } from './describe-splice.js';
import { checksumOfResult, inFront, MAX_LOST_BLOCKS } from './journal-record.js';
import type { BlockOrigin, JournalRecord, RowSettings, ShownEarlier } from './journal-record.js';
import { makeReplaced, shrunkText, textWithoutReferences } from './without-references.js';

/** The result of applying a journal. */
export interface Fold {
  readonly entries: IContent[];
  /** The records that were applied. */
  readonly followed: readonly JournalRecord[];
  /** Whether all records were applied with all of their rows. */
  readonly isWhole: boolean;
  /** Length of the prefix that the records that were not applied would not have changed. */
  readonly intactEntries: number;
}

/** Entries added between two yields. */
const ENTRIES_PER_SLICE = 1_024;

/**
 * Applies a journal to the entries that were added to a history, in slices. Stops at the first record that does not fit, so that, for
 * example, a result that this version of the library would shrink differently is not sent.
 *
 * @param raw all entries, as they were added
 * @param known length of the prefix of `raw` that is unchanged since the journal was written; records that need more are not applied
 * @param holds whether of rows that need more, those apply that edit this prefix @default false
 */
export function* foldJournal(
  raw: readonly IContent[],
  known: number,
  records: readonly JournalRecord[],
  toolCatalog: ToolCatalog | undefined,
  holds: boolean = false,
): Generator<void, Fold, undefined> {
  let end = records.length;
  for (;;) {
    const deferred = new DeferredResults();
    const given = { raw, known, holds, toolCatalog };
    const fold = yield* foldUpTo(end, given, records, deferred);
    end = yield* deferred.makeTexts(fold.entries);
    if (end === Infinity) return fold;
  }
}

/** What a journal is applied to; see `foldJournal`. */
interface FoldedHistory {
  readonly raw: readonly IContent[];
  readonly known: number;
  readonly holds: boolean;
  readonly toolCatalog: ToolCatalog | undefined;
}

/** Applies the records before `end`. */
function* foldUpTo(
  end: number,
  { raw, known, holds, toolCatalog }: FoldedHistory,
  records: readonly JournalRecord[],
  deferred: DeferredResults,
): Generator<void, Fold, undefined> {
  const list: IContent[] = [];
  const followed: JournalRecord[] = [];
  let taken = 0;
  let settings: RowSettings = { placeholder: 'pointer' };
  let [isFitting, isWhole] = [true, true];
  let intactEntries = Infinity;
  for (const [number, written] of records.entries()) {
    let record = written;
    if (record.kind === 'settings') {
      settings = record.settings;
    } else if (isFitting) {
      for (; taken < Math.min(record.at, known); taken += 1) {
        list.push(raw[taken] as IContent);
        if (taken % ENTRIES_PER_SLICE === 0) yield;
      }
      if (holds && record.at > known) record = inFront(record, known, list.length);
      deferred.record = number;
      isFitting =
        number < end &&
        record.at <= known &&
        applyRecord(record, list, { settings, toolCatalog, deferred });
      if (!isFitting) intactEntries = list.length;
      isWhole &&= isFitting && rowsIn(record) === rowsIn(written);
    }
    if (!isFitting) intactEntries = Math.min(intactEntries, firstEntryOf(record));
    else if (record === written || rowsIn(record) > 0) followed.push(record);
    yield;
  }
  for (; taken < raw.length; taken += 1) {
    if (taken === known) intactEntries = Math.min(intactEntries, list.length);
    list.push(raw[taken] as IContent);
    if (taken % ENTRIES_PER_SLICE === 0) yield;
  }
  return { entries: list, followed, isWhole, intactEntries: Math.min(intactEntries, list.length) };
}

/** Whether a fold has no more pairing violations than the entries that it was made from. */
export function* isSendable(
  { entries }: Fold,
  raw: readonly IContent[],
): Generator<void, boolean, undefined> {
  const { length } = yield* pairingViolationsInSlices(entries);
  return length === 0 || length <= (yield* pairingViolationsInSlices(raw)).length;
}

function rowsIn(record: JournalRecord): number {
  return record.kind === 'rows' ? record.rows.length / ROW_LENGTH : 1;
}

/** The first entry that a record changes. */
function firstEntryOf(record: JournalRecord): number {
  if (record.kind === 'settings') return Infinity;
  if (record.kind === 'rows') return record.rows[0] ?? Infinity;
  const first = record.kind === 'splice' ? record.pieces[0] : undefined;
  return first?.kind === 'stay' && first.skipped === 0 ? first.kept : 0;
}

/** The context in which records are applied. */
interface FoldContext {
  readonly settings: RowSettings;
  readonly toolCatalog: ToolCatalog | undefined;
  readonly deferred: DeferredResults;
}

/** Applies a record to a list; returns `false` if it does not fit. */
function applyRecord(
  record: JournalRecord & { readonly at: number },
  list: IContent[],
  context: FoldContext,
): boolean {
  const apply = (): boolean => {
    if (record.kind === 'rows') return applyRows(record, list, context);
    return record.kind === 'splice' && applySplice(record, list, context.deferred);
  };
  return ifFitting(apply) ?? false;
}

/** What a function returns; `undefined` if rows or pieces do not match a list, as those of another history: these errors tell. */
function ifFitting<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (thrown) {
    if (thrown instanceof RangeError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}

function applyRows(
  { rows, shown, checksums }: JournalRecord & { readonly kind: 'rows' },
  list: IContent[],
  { settings, toolCatalog, deferred }: FoldContext,
): boolean {
  const makers: MakeText[] = [];
  const callOf = answeredCalls(list);
  for (const row = new PlanCursor(rows); !row.isAtEnd; row.next()) {
    const block = list[row.entry]?.blocks[row.block];
    if (row.action === ACTION.cut && !isInclusion(block, row)) return false;
    if (row.action !== ACTION.shrink) continue;
    const call = callOf(row.entry, row.block);
    if (call === undefined || settings.shrink === undefined) return false;
    const runs = (shown[row.start] ?? []).map((run) =>
      shownElsewhere(list, row.entry, run, call, callOf),
    );
    makers[row.start] = (response, isPlain) => {
      const answered = { call, response };
      if (isPlain === true) return textWithoutReferences(answered, settings, toolCatalog);
      const text = shrunkText(answered, runs, settings, toolCatalog);
      if (text === undefined) throw new RangeError('Expected a result that can be shrunk.');
      return text;
    };
  }
  const textOf = (number: number): MakeText => {
    const make = makers[number];
    if (make === undefined) throw new RangeError('Expected a row that shrinks.');
    return make;
  };
  let made = 0;
  const replace: ResultReplacer['replace'] = (response, make) =>
    deferred.defer(response, { make, checksum: checksums[made++], settings });
  const by = { settings: { ...DEFAULT_DENSITY_CONFIG, ...settings }, texts: [] };
  applyDensityResult(list, materializeWith(rows, list, by, { textOf, replace }));
  return true;
}

/**
 * Results whose text is computed only after all records were applied, because a later record may remove them. Likewise, new entries
 * whose text the journal no longer has: they matter only if no later record removes them.
 */
class DeferredResults {
  readonly #results = new Map<ContentBlock, DeferredResult>();
  readonly #texts = new Map<ContentBlock, ContentBlock | number>();
  readonly #lost = new Set<IContent>();
  #firstLost = Infinity;
  /** The index of the current record. */
  record = 0;

  defer(before: ToolResponseBlock, text: DeferredText): ToolResponseBlock {
    const block = withResult(before, '');
    this.#results.set(block, { ...text, before, record: this.record });
    return block;
  }

  /** Defers a shrunk result again, this time without references to other results, or with those that count no calls back. */
  deferWithoutReferences(block: ContentBlock, checksum: number): ToolResponseBlock {
    const shrunk = this.#results.get(block);
    if (shrunk === undefined) throw new RangeError('Expected a result that was shrunk.');
    const { before, make } = shrunk;
    return this.defer(before, { ...shrunk, make: makeReplaced(make, checksum), checksum });
  }

  /** Returns a stand-in for a new entry of which the journal kept only the number of blocks. */
  standInForLost(blocks: number): IContent {
    if (!Number.isInteger(blocks) || blocks < 0 || blocks > MAX_LOST_BLOCKS) {
      throw new RangeError('Expected a number of blocks.');
    }
    const entry: IContent = {
      speaker: 'human',
      blocks: Array.from({ length: blocks }, () => ({ type: 'text', text: '' }) as const),
    };
    this.#lost.add(entry);
    this.#firstLost = Math.min(this.#firstLost, this.record);
    return entry;
  }

  /** Computes the texts in a list; returns the index of the first record with a text that cannot be reproduced, or `Infinity`. */
  *makeTexts(list: IContent[]): Generator<void, number, undefined> {
    let failed = Infinity;
    for (let index = 0; index < list.length; index += 1) {
      const entry = list[index] as IContent;
      // Goes back to the first lost entry at once: going back one lost entry at a time would fold once per entry.
      if (this.#lost.has(entry)) failed = Math.min(failed, this.#firstLost);
      if (!entry.blocks.some(this.#isDeferred)) continue;
      const blocks = entry.blocks.map((block) => {
        const made = this.#made(block);
        if (typeof made !== 'number') return made;
        failed = Math.min(failed, made);
        return block;
      });
      list[index] = { ...entry, blocks };
      yield;
    }
    return failed;
  }

  readonly #isDeferred = (block: ContentBlock): boolean => this.#results.has(block);

  /** The block with its text, or the index of the record whose text cannot be reproduced. */
  #made(block: ContentBlock): ContentBlock | number {
    const deferred = this.#results.get(block);
    if (deferred === undefined) return block;
    const known = this.#texts.get(block);
    const made = known ?? this.#madeOf(deferred);
    this.#texts.set(block, made);
    return made;
  }

  #madeOf(deferred: DeferredResult): ContentBlock | number {
    const before = this.#made(deferred.before);
    if (typeof before === 'number') return before;
    const text = ifFitting(() => deferred.make(before as ToolResponseBlock));
    if (text === undefined || checksumOfResult(text) !== deferred.checksum) return deferred.record;
    const made = withResult(before as ToolResponseBlock, text);
    noteShrunk(made, { before: before as ToolResponseBlock, settings: deferred.settings });
    return made;
  }
}

/** How a text is computed, and the checksum that it must have. */
interface DeferredText {
  readonly make: MakeText;
  readonly checksum: number | undefined;
  readonly settings: RowSettings;
}

interface DeferredResult extends DeferredText {
  readonly before: ToolResponseBlock;
  readonly record: number;
}

function shownElsewhere(
  list: readonly IContent[],
  entry: number,
  { entriesBack, block, ...lines }: ShownEarlier,
  call: ToolCallBlock,
  callOf: CallOf,
): ShownElsewhere {
  const response = list[entry - entriesBack]?.blocks[block];
  if (response?.type !== 'tool_response') {
    throw new RangeError('Expected a result that shows the lines.');
  }
  const source = callOf(entry - entriesBack, block);
  const name = nameWithPosition(callName(source), laterCalls(list, entry, source, call));
  return { ...lines, source: { callId: response.callId, name } };
}

/** How many calls between a source and a call have the source's name. 0 if the source is more than `MAX_CALLS_BACK` calls back. */
function laterCalls(
  list: readonly IContent[],
  entry: number,
  source: ToolCallBlock | undefined,
  call: ToolCallBlock,
): number {
  if (source === undefined) return 0;
  const before: ToolCallBlock[] = [];
  for (let at = entry; at >= 0; at -= 1) {
    for (const block of list[at]?.blocks.toReversed() ?? []) {
      if (block.type !== 'tool_call') continue;
      if (before.length === MAX_CALLS_BACK) return 0;
      if (block === source) {
        const name = callName(source);
        const own = before.indexOf(call);
        // Calls of one answer may be answered in another order: then the source is called after `call`.
        if (own === -1) return 0;
        return before.slice(own + 1).filter((other) => callName(other) === name).length;
      }
      before.push(block);
    }
  }
  return 0;
}

function applySplice(
  { pieces }: JournalRecord & { readonly kind: 'splice' },
  list: IContent[],
  deferred: DeferredResults,
): boolean {
  const made: IContent[] = [];
  let next = 0;
  for (const piece of pieces) {
    if (piece.kind === 'written') {
      const { entry } = piece;
      made.push(typeof entry === 'number' ? deferred.standInForLost(entry) : writtenEntry(entry));
      continue;
    }
    next += piece.skipped;
    const length = piece.kind === 'stay' ? piece.kept : 1;
    if (next + length > list.length) return false;
    if (piece.kind === 'stay') {
      for (let at = next; at < next + length; at += 1) made.push(list[at] as IContent);
    } else made.push(editedEntry(list[next] as IContent, piece.blocks, deferred));
    next += length;
  }
  list.length = 0;
  for (const entry of made) list.push(entry);
  return true;
}

function writtenEntry(entry: IContent): IContent {
  assertIngestible(entry, 0);
  if (entry.speaker !== 'tool' && entry.blocks.every(mayBeWritten)) return entry;
  throw new RangeError('Expected an entry that may be written.');
}

function editedEntry(
  entry: IContent,
  origins: readonly BlockOrigin[],
  deferred: DeferredResults,
): IContent {
  const blocks = origins.map((origin): ContentBlock => {
    if (typeof origin === 'object' && 'type' in origin) {
      if (mayBeWritten(origin)) return origin as ContentBlock;
      throw new RangeError('Expected a block that may be written.');
    }
    const [place, change] = typeof origin === 'number' ? [origin] : origin;
    const block = entry.blocks[place];
    if (block === undefined) throw new RangeError('Expected a block of the entry.');
    if (change === undefined) return block;
    if (typeof change === 'number') return deferred.deferWithoutReferences(block, change);
    if (block.type === 'tool_response') return withResult(block, change);
    throw new RangeError('Expected a block that may have another text.');
  });
  return { ...entry, blocks };
}
