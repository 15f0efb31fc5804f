// The records of a journal and their binary encoding. A record is an edit that landed, with the number of entries that had been
// added by then. Does not apply records.

import { crc32 } from 'node:zlib';
import type { IContent } from '../content.js';
import { placeholderOf, shrinkSettingsOf } from '../density.js';
import type { PassSettings, PlaceholderForm } from '../density.js';
import { PlanCursor, ROW_LENGTH } from '../density/plan/plan.js';
import type { DensityPlan } from '../density/plan/plan.js';
import { ACTION, actionOf, markOf, ruleOf } from '../density/rules/marks.js';
import type { ShownElsewhere } from '../shrink/shown-before.js';
import type { ShrinkSettings } from '../shrink/shrink-text.js';
import { ByteReader, ByteWriter } from './packed-bytes.js';

/** The settings with which the rows of the following records were made. */
export interface RowSettings {
  readonly placeholder: PlaceholderForm;
  readonly shrink?: ShrinkSettings;
}

/** The settings of rows that a pass made. */
export function rowSettings(pass: Pick<PassSettings, 'placeholder' | 'shrink'>): RowSettings {
  const shrink = shrinkSettingsOf(pass.shrink);
  return { placeholder: placeholderOf(pass), ...(shrink !== undefined && { shrink }) };
}

/** 16-bit checksum of a new result. Detects that another version of this library produces a different text. */
export function checksumOfResult(text: string): number {
  return crc32(text) & 0xffff;
}

/** Lines of a result that an earlier result shows. That one is `block` of the entry `entriesBack` entries before. */
export interface ShownEarlier extends Omit<ShownElsewhere, 'source'> {
  readonly entriesBack: number;
  readonly block: number;
}

/**
 * The origin of a block of an edited entry: either the index of a block of the original entry, or a new block. With the index, a
 * string is the block's new result, and a number is the checksum of a shrunk result that no longer refers to others.
 */
export type BlockOrigin =
  number | readonly [place: number, change: string | number] | { readonly type: string };

/** A piece of a list that replaced a history. Entries of the history are consumed in order. */
export type SplicePiece =
  /** Skips entries, then keeps entries. */
  | { readonly kind: 'stay'; readonly skipped: number; readonly kept: number }
  /** Skips entries, then edits one. */
  | {
      readonly kind: 'edited';
      readonly skipped: number;
      readonly blocks: readonly BlockOrigin[];
    }
  /** A new entry, such as a summary. If it was replaced long ago, only the number of its blocks is kept. */
  | { readonly kind: 'written'; readonly entry: IContent | number };

/** An edit that landed. Indices are those of the history before it. */
export type JournalRecord =
  | { readonly kind: 'settings'; readonly settings: RowSettings }
  | {
      readonly kind: 'rows';
      /** Number of entries added to the history so far. */
      readonly at: number;
      /** The rows of a plan; the `start` of a row that shrinks is an index into `shown`. */
      readonly rows: DensityPlan;
      readonly shown: readonly (readonly ShownEarlier[])[];
      /** The checksums of the results that the rows produced, in order. */
      readonly checksums: readonly number[];
    }
  | { readonly kind: 'splice'; readonly at: number; readonly pieces: readonly SplicePiece[] }
  /** An edit that no record can describe. */
  | { readonly kind: 'unknown'; readonly at: number };

/** Whether an action gives a tool result another text. */
export function replacesResult(action: number): boolean {
  return action === ACTION.pointer || action === ACTION.excerpt || action === ACTION.shrink;
}

/**
 * Returns the record of those rows that edit the first `length` entries, as made before the others were there; the same record if it is
 * of another kind, or cuts an inclusion: what repeats that one may be gone.
 *
 * @param at number of entries added by then
 */
export function inFront<Landed extends JournalRecord>(
  record: Landed,
  at: number,
  length: number,
): Landed {
  if (record.kind !== 'rows') return record;
  const rows: number[] = [];
  const checksums: number[] = [];
  let made = 0;
  for (const row = new PlanCursor(record.rows); !row.isAtEnd; row.next()) {
    const checksum = replacesResult(row.action) ? record.checksums[made++] : undefined;
    if (row.action === ACTION.cut) return record;
    if (row.entry >= length) continue;
    rows.push(...record.rows.subarray(row.offset, row.offset + ROW_LENGTH));
    if (checksum !== undefined) checksums.push(checksum);
  }
  return { ...record, at, rows: Int32Array.from(rows), checksums };
}

/** The rule number of rows that drop reasoning because of an edit before it. */
export const NO_RULE = 15;

const KIND = { settings: 0, rows: 1, splice: 2, unknown: 3 } as const;
const PIECE = { stay: 0, edited: 1, written: 2 } as const;

/** An encoded journal. */
export interface PackedJournal {
  readonly bytes: Uint8Array;
  /** Settings, new entries and edited blocks as JSON, which the bytes refer to by index. */
  readonly texts: readonly string[];
}

/**
 * Limit for the texts of new entries that were replaced since, in UTF-16 units of JSON. A process that resumes from before the
 * replacement needs these texts; the limit bounds the journal of an endless session.
 */
const REPLACED_CHARACTERS = 32_768;

/** The text of a new entry with more blocks is never reduced to the number of its blocks. */
export const MAX_LOST_BLOCKS = 1_000;

/** Encodes records. */
export class JournalWriter {
  readonly #bytes = new ByteWriter();
  readonly #texts: string[] = [];
  readonly #forms = new Map<number, number>();
  #lastAt = 0;
  /** New entries that are still in the history, with the numbers of their texts. */
  readonly #written = new Map<IContent, number>();
  /** Replaced new entries whose texts are still kept, oldest first. */
  readonly #replaced: { readonly number: number; readonly blocks: number }[] = [];
  #replacedCharacters = 0;

  /** `at` of the last record that has one; 0 if there is none. */
  get lastAt(): number {
    return this.#lastAt;
  }

  get packed(): PackedJournal {
    return { bytes: this.#bytes.view(), texts: this.#texts };
  }

  add(record: JournalRecord): void {
    const bytes = this.#bytes;
    bytes.byte(KIND[record.kind]);
    if (record.kind === 'settings') {
      bytes.number(this.#textNumber(JSON.stringify(record.settings)));
      return;
    }
    bytes.number(record.at - this.#lastAt);
    this.#lastAt = record.at;
    if (record.kind === 'rows') this.#addRows(record);
    else if (record.kind === 'splice') this.#addPieces(record.pieces);
  }

  /** Notes that an entry was removed from the history. */
  noteRemoved(entry: IContent): void {
    const number = this.#written.get(entry);
    if (number === undefined) return;
    this.#written.delete(entry);
    const blocks = entry.blocks.length;
    if (blocks > MAX_LOST_BLOCKS) return;
    this.#replaced.push({ number, blocks });
    this.#replacedCharacters += this.#texts[number]?.length ?? 0;
    while (this.#replacedCharacters > REPLACED_CHARACTERS) {
      const oldest = this.#replaced.shift();
      if (oldest === undefined) return;
      this.#replacedCharacters -= this.#texts[oldest.number]?.length ?? 0;
      this.#texts[oldest.number] = String(oldest.blocks);
    }
  }

  /** Notes that all entries except these were removed. */
  noteRemovedExcept(entries: readonly IContent[]): void {
    if (this.#written.size === 0) return;
    const remaining = new Set(entries);
    for (const entry of this.#written.keys()) if (!remaining.has(entry)) this.noteRemoved(entry);
  }

  #addRows({ rows, shown, checksums }: JournalRecord & { readonly kind: 'rows' }): void {
    const bytes = this.#bytes;
    bytes.number(rows.length / ROW_LENGTH);
    let last = 0;
    let made = 0;
    for (const row = new PlanCursor(rows); !row.isAtEnd; row.next()) {
      bytes.number(row.entry - last);
      last = row.entry;
      this.#addForm(row.block, markOf(row.action, row.rule));
      if (replacesResult(row.action)) bytes.half(checksums[made++] ?? 0);
      if (row.action === ACTION.cut) {
        bytes.number(row.start);
        bytes.number(row.end - row.start);
      } else if (row.action === ACTION.shrink) {
        this.#addShown(shown[row.start] ?? []);
      }
    }
  }

  /** Rows have few different forms (block, action and rule). Each form is written once, and afterwards referred to by its number. */
  #addForm(block: number, mark: number): void {
    const form = formOf(block, mark);
    const number = this.#forms.get(form);
    this.#bytes.number(number ?? this.#forms.size);
    if (number !== undefined) return;
    this.#forms.set(form, this.#forms.size);
    this.#bytes.number(form);
  }

  #addShown(runs: readonly ShownEarlier[]): void {
    const bytes = this.#bytes;
    bytes.number(runs.length);
    let from = 0;
    for (const { start, end, entriesBack, block, sourceNumber: number } of runs) {
      bytes.number(start - from);
      bytes.number(end - start);
      from = end;
      bytes.number(entriesBack);
      bytes.number(2 * block + (number === undefined ? 0 : 1));
      if (number !== undefined) bytes.number(number === null ? 0 : 1 + number);
    }
  }

  #addPieces(pieces: readonly SplicePiece[]): void {
    const bytes = this.#bytes;
    bytes.number(pieces.length);
    for (const piece of pieces) {
      bytes.byte(PIECE[piece.kind]);
      if (piece.kind === 'written') {
        const number = this.#texts.push(JSON.stringify(piece.entry)) - 1;
        if (typeof piece.entry !== 'number') this.#written.set(piece.entry, number);
        bytes.number(number);
        continue;
      }
      bytes.number(piece.skipped);
      if (piece.kind === 'stay') bytes.number(piece.kept);
      else bytes.number(this.#textNumber(JSON.stringify(piece.blocks)));
    }
  }

  #textNumber(text: string): number {
    const last = this.#texts.length - 1;
    return this.#texts[last] === text ? last : this.#texts.push(text) - 1;
  }
}

/** Reads the records of a journal lazily. @throws RangeError or SyntaxError if the journal is corrupt */
export function* readJournal({
  bytes: given,
  texts,
}: PackedJournal): Generator<JournalRecord, void, undefined> {
  const bytes = new ByteReader(given);
  const text = (): string => {
    const found = texts[bytes.number()];
    if (typeof found === 'string') return found;
    throw new RangeError('Expected the number of a text.');
  };
  const forms: number[] = [];
  let at = 0;
  while (!bytes.isAtEnd) {
    const kind = bytes.byte();
    if (kind === KIND.settings) {
      yield { kind: 'settings', settings: JSON.parse(text()) as RowSettings };
      continue;
    }
    at += bytes.number();
    if (kind === KIND.rows) yield readRows(bytes, at, forms);
    else if (kind === KIND.splice) yield { kind: 'splice', at, pieces: readPieces(bytes, text) };
    else if (kind === KIND.unknown) yield { kind: 'unknown', at };
    else throw new RangeError('Expected a record of a known kind.');
  }
}

/** Limit on the length of any list, so that a corrupt journal cannot make the reader allocate without bound. */
const MAX_ITEMS = 10_000_000;

function countOf(bytes: ByteReader): number {
  const count = bytes.number();
  if (count <= MAX_ITEMS) return count;
  throw new RangeError('Expected a smaller number.');
}

/** Encodes block and mark (action and rule) as one number. */
function formOf(block: number, mark: number): number {
  return block * 0x100 + mark;
}

function readForm(bytes: ByteReader, forms: number[]): number {
  const number = bytes.number();
  if (number > forms.length) throw new RangeError('Expected a form of a row.');
  return (forms[number] ??= bytes.number());
}

function readRows(bytes: ByteReader, at: number, forms: number[]): JournalRecord {
  const checksums: number[] = [];
  const count = countOf(bytes);
  const rows: number[] = [];
  const shown: (readonly ShownEarlier[])[] = [];
  let entry = 0;
  for (let row = 0; row < count; row += 1) {
    entry += bytes.number();
    const form = readForm(bytes, forms);
    const block = Math.floor(form / 0x100);
    const mark = form % 0x100;
    const action = actionOf(mark);
    if (replacesResult(action)) checksums.push(bytes.half());
    let start = -1;
    let end = -1;
    if (action === ACTION.cut) {
      start = bytes.number();
      end = start + bytes.number();
    } else if (action === ACTION.shrink) {
      start = shown.push(readShown(bytes)) - 1;
    }
    rows.push(entry, block, action, ruleOf(mark), start, end);
  }
  return { kind: 'rows', at, rows: Int32Array.from(rows), shown, checksums };
}

function readShown(bytes: ByteReader): readonly ShownEarlier[] {
  let from = 0;
  return Array.from({ length: countOf(bytes) }, () => {
    const start = from + bytes.number();
    const end = start + bytes.number();
    from = end;
    const entriesBack = bytes.number();
    const form = bytes.number();
    const block = Math.floor(form / 2);
    if (form % 2 === 0) return { start, end, entriesBack, block };
    const number = bytes.number() - 1;
    return { start, end, entriesBack, block, sourceNumber: number === -1 ? null : number };
  });
}

function readPieces(bytes: ByteReader, text: () => string): readonly SplicePiece[] {
  const pieces: SplicePiece[] = [];
  for (let left = countOf(bytes); left > 0; left -= 1) {
    const kind = bytes.byte();
    if (kind === PIECE.written) {
      pieces.push({ kind: 'written', entry: JSON.parse(text()) as IContent | number });
      continue;
    }
    const skipped = bytes.number();
    if (kind === PIECE.stay) pieces.push({ kind: 'stay', skipped, kept: bytes.number() });
    else if (kind === PIECE.edited) {
      const blocks = JSON.parse(text()) as readonly BlockOrigin[];
      pieces.push({ kind: 'edited', skipped, blocks });
    } else throw new RangeError('Expected a piece of a known kind.');
  }
  return pieces;
}
