// Makes what a session sends of what its caller has, and of the journal of what landed: the same in any process and on any
// thread. Pure; asks nobody, and takes nothing but summaries from anywhere else than the entries that it is given.

import { withResult } from '../content.js';
import type { ContentBlock, IContent, ToolResponseBlock } from '../content.js';
import { applyDensityResult, DEFAULT_DENSITY_CONFIG } from '../density.js';
import { callUse } from '../density/index/call-use.js';
import { usesByTool } from '../density/index/history-index.js';
import { materializeWith } from '../density/plan/materialize.js';
import type { MakeText, ResultPlacement } from '../density/plan/materialize.js';
import { PlanCursor } from '../density/plan/plan.js';
import { ACTION } from '../density/rules/marks.js';
import { shrunkResult } from '../density/rules/shrink.js';
import { assertIngestible } from '../ingestion.js';
import type { ShownElsewhere } from '../shrink/shown-before.js';
import { answeredCalls } from '../summarize/history-outline.js';
import type { ToolCatalog, ToolUse } from '../tool-catalog.js';
import { pairingViolationsInSlices } from '../validity.js';
import { checksumOfResult } from './describe-edit.js';
import { mayBeWritten } from './describe-splice.js';
import { MAX_LOST_BLOCKS } from './journal-record.js';
import type { BlockOrigin, JournalRecord, RowSettings, ShownAbove } from './journal-record.js';

/** What a history and a journal come to. */
export interface Fold {
  readonly entries: IContent[];
  /** The records that were followed. */
  readonly followed: readonly JournalRecord[];
  /** Whether these are all. */
  readonly isWhole: boolean;
  /** Entries from the start that no record which was not followed would have changed. */
  readonly intactEntries: number;
}

/** Entries that are taken in before others may have a turn. */
const ENTRIES_PER_SLICE = 1_024;

/**
 * Folds a journal over the entries that were added to a history. The first record that does not fit them ends it, with all
 * that follow: what another version of this library would make of a result, for one, is not sent. Yields where others
 * may have a turn.
 *
 * @param raw all entries, as they were added
 * @param known so many of them are as they were: records that stand on more are not followed
 * @param toolCatalog what is known of the agent's tools
 */
export function* foldJournal(
  raw: readonly IContent[],
  known: number,
  records: readonly JournalRecord[],
  toolCatalog: ToolCatalog | undefined,
): Generator<void, Fold, undefined> {
  let end = records.length;
  for (;;) {
    const late = new LateResults();
    const fold = yield* foldUpTo(end, raw, known, records, toolCatalog, late);
    end = yield* late.make(fold.entries);
    if (end === Infinity) return fold;
  }
}

/** Follows no record from this one on. */
function* foldUpTo(
  end: number,
  raw: readonly IContent[],
  known: number,
  records: readonly JournalRecord[],
  toolCatalog: ToolCatalog | undefined,
  late: LateResults,
): Generator<void, Fold, undefined> {
  const list: IContent[] = [];
  const followed: JournalRecord[] = [];
  const uses = usesByTool({ toolCatalog });
  let taken = 0;
  let settings: RowSettings = { placeholder: 'pointer' };
  let isWhole = true;
  let intactEntries = Infinity;
  for (const [number, record] of records.entries()) {
    if (record.kind === 'settings') {
      settings = record.settings;
    } else if (isWhole) {
      for (; taken < Math.min(record.at, known); taken += 1) {
        list.push(raw[taken] as IContent);
        if (taken % ENTRIES_PER_SLICE === 0) yield;
      }
      late.record = number;
      isWhole =
        number < end && record.at <= known && follow(record, list, { settings, uses, late });
      if (!isWhole) intactEntries = list.length;
    }
    if (isWhole) followed.push(record);
    else intactEntries = Math.min(intactEntries, firstEntryOf(record));
    yield;
  }
  for (; taken < raw.length; taken += 1) {
    if (taken === known) intactEntries = Math.min(intactEntries, list.length);
    list.push(raw[taken] as IContent);
    if (taken % ENTRIES_PER_SLICE === 0) yield;
  }
  return { entries: list, followed, isWhole, intactEntries: Math.min(intactEntries, list.length) };
}

/** Whether what a fold has come to may be sent as well as what it was made of. */
export function* isSendable(
  { entries }: Fold,
  raw: readonly IContent[],
): Generator<void, boolean, undefined> {
  const { length } = yield* pairingViolationsInSlices(entries);
  return length === 0 || length <= (yield* pairingViolationsInSlices(raw)).length;
}

/** The first entry that a record changes. */
function firstEntryOf(record: JournalRecord): number {
  switch (record.kind) {
    case 'settings':
      return Infinity;
    case 'rows':
      return record.rows[0] ?? Infinity;
    case 'splice': {
      const [first] = record.pieces;
      return first?.kind === 'stay' && first.skipped === 0 ? first.kept : 0;
    }
    case 'unknown':
      return 0;
  }
}

/** What records are followed with. */
interface Following {
  readonly settings: RowSettings;
  readonly uses: ReadonlyMap<string, readonly ToolUse[]>;
  readonly late: LateResults;
}

/** Does to a list what a record tells, or nothing when that does not fit. */
function follow(
  record: JournalRecord & { readonly at: number },
  list: IContent[],
  following: Following,
): boolean {
  try {
    if (record.kind === 'rows') return followRows(record, list, following);
    return record.kind === 'splice' && followSplice(record, list, following.late);
  } catch (thrown) {
    // Of a journal that is not this history's, rows and pieces lead nowhere.
    if (thrown instanceof RangeError || thrown instanceof TypeError) return false;
    if (thrown instanceof SyntaxError) return false;
    throw thrown;
  }
}

function followRows(
  { rows, shown, checksums }: JournalRecord & { readonly kind: 'rows' },
  list: IContent[],
  { settings: { placeholder, shrink }, uses, late }: Following,
): boolean {
  const makers: MakeText[] = [];
  const callOf = answeredCalls(list);
  for (const row of rowsThatShrink(rows)) {
    const call = callOf(row.entry, row.block);
    if (call === undefined || shrink === undefined) return false;
    const runs = (shown[row.start] ?? []).map((run) => shownElsewhere(list, row.entry, run));
    makers[row.start] = (response) => {
      const { result } = response;
      if (typeof result !== 'string') throw new TypeError('Expected a result that is a text.');
      const use = callUse(uses.get(call.name), call.parameters, true);
      const unsent = { call, response: { ...response, result } };
      const text = shrunkResult(unsent, runs, use, shrink, placeholder);
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
  const put: ResultPlacement['put'] = (response, make) =>
    late.put(response, make, checksums[made++]);
  const by = { settings: { ...DEFAULT_DENSITY_CONFIG, placeholder }, texts: [] };
  applyDensityResult(list, materializeWith(rows, list, by, { textOf, put }));
  return true;
}

/**
 * Results that are made when all else stands: of those that a later record takes away nobody needs the text. And written
 * entries of which the journal does not keep the text, for the same reason.
 */
class LateResults {
  readonly #results = new Map<ContentBlock, LateResult>();
  readonly #lost = new Set<IContent>();
  #firstLost = Infinity;
  /** The number of the record that is being followed. */
  record = 0;

  put(before: ToolResponseBlock, make: MakeText, checksum: number | undefined): ToolResponseBlock {
    const block = withResult(before, '');
    this.#results.set(block, { before, make, checksum, record: this.record });
    return block;
  }

  /** Returns what stands for a written entry of which nothing is kept but how many blocks it had. */
  lose(blocks: number): IContent {
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

  /** Puts the texts into the entries of a list; returns the first record of which one is another than it was, or `Infinity`. */
  *make(list: IContent[]): Generator<void, number, undefined> {
    let failed = Infinity;
    for (let index = 0; index < list.length; index += 1) {
      const entry = list[index] as IContent;
      // Before the first one was written none stood. Stepping back one by one would fold as often as there are of them.
      if (this.#lost.has(entry)) failed = Math.min(failed, this.#firstLost);
      if (!entry.blocks.some(this.#isLate)) continue;
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

  readonly #isLate = (block: ContentBlock): boolean => this.#results.has(block);

  /** The block with its text, or the record by which it cannot be made. */
  #made(block: ContentBlock): ContentBlock | number {
    const late = this.#results.get(block);
    if (late === undefined) return block;
    const before = this.#made(late.before);
    if (typeof before === 'number') return before;
    const text = textOrNot(late.make, before as ToolResponseBlock);
    if (text === undefined || checksumOfResult(text) !== late.checksum) return late.record;
    return withResult(before as ToolResponseBlock, text);
  }
}

interface LateResult {
  readonly before: ToolResponseBlock;
  readonly make: MakeText;
  readonly checksum: number | undefined;
  readonly record: number;
}

function textOrNot(make: MakeText, response: ToolResponseBlock): string | undefined {
  try {
    return make(response);
  } catch (thrown) {
    if (thrown instanceof RangeError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}

function* rowsThatShrink(rows: Int32Array): Generator<PlanCursor, void, undefined> {
  for (const row = new PlanCursor(rows); !row.isAtEnd; row.next()) {
    if (row.action === ACTION.shrink) yield row;
  }
}

function shownElsewhere(
  list: readonly IContent[],
  entry: number,
  { entriesBack, block, ...lines }: ShownAbove,
): ShownElsewhere {
  const source = list[entry - entriesBack]?.blocks[block];
  if (source?.type === 'tool_response') return { ...lines, callId: source.callId };
  throw new RangeError('Expected a result that shows the lines.');
}

function followSplice(
  { pieces }: JournalRecord & { readonly kind: 'splice' },
  list: IContent[],
  late: LateResults,
): boolean {
  const made: IContent[] = [];
  let next = 0;
  for (const piece of pieces) {
    if (piece.kind === 'written') {
      const { entry } = piece;
      made.push(typeof entry === 'number' ? late.lose(entry) : writtenEntry(entry));
      continue;
    }
    next += piece.skipped;
    const length = piece.kind === 'stay' ? piece.kept : 1;
    if (next + length > list.length) return false;
    if (piece.kind === 'stay') {
      for (let at = next; at < next + length; at += 1) made.push(list[at] as IContent);
    } else made.push(editedEntry(list[next] as IContent, piece.blocks));
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

function editedEntry(entry: IContent, origins: readonly BlockOrigin[]): IContent {
  const blocks = origins.map((origin): ContentBlock => {
    if (typeof origin === 'object' && 'type' in origin) {
      if (mayBeWritten(origin)) return origin as ContentBlock;
      throw new RangeError('Expected a block that may be written.');
    }
    const [place, text] = typeof origin === 'number' ? [origin] : origin;
    const block = entry.blocks[place];
    if (block === undefined) throw new RangeError('Expected a block of the entry.');
    if (text === undefined) return block;
    if (block.type === 'tool_response') return withResult(block, text);
    throw new RangeError('Expected a block that may have another text.');
  });
  return { ...entry, blocks };
}
