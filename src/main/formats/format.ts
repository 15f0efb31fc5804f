// The interface of a format of recorded sessions: how to detect it, how to read it, and what its agent's tools do.

import type { JsonRecord } from '../../shared/json.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import type { HistoryAssembler } from './history-assembler.js';
import type { TranscriptFormat, TranscriptPlace } from './transcript.js';

/** Reads a session into a history, one record or message at a time. */
export interface RecordReader {
  readonly read: (record: JsonRecord, place: TranscriptPlace) => void;
  /** Called after the last record. */
  readonly finish?: () => void;
}

interface CommonFormat<Name extends TranscriptFormat> {
  readonly name: Name;
  /** What the agent's tools do. */
  readonly toolCatalog: ToolCatalog;
}

/** A format of JSON Lines. */
export interface LineFormat<
  Name extends TranscriptFormat = TranscriptFormat,
> extends CommonFormat<Name> {
  /** Whether a record is of this format. */
  readonly detectRecord: (record: JsonRecord) => boolean;
  readonly open: (history: HistoryAssembler) => RecordReader;
}

/** A format of one JSON document that has a list of messages, or is that list. */
export interface DocumentFormat<
  Name extends TranscriptFormat = TranscriptFormat,
> extends CommonFormat<Name> {
  /** Whether a document is of this format. If the document is a bare list, `document` is empty. */
  readonly detectDocument: (document: JsonRecord, messages: readonly unknown[]) => boolean;
  /** Possible keys of the list; the first that holds a non-empty one is read. */
  readonly lists: readonly [string, ...string[]];
  readonly open: (history: HistoryAssembler, document: JsonRecord) => RecordReader;
}

/** A format of recorded sessions. The `open` of a format that is both kinds gets a document only if it reads one. */
export type Format<Name extends TranscriptFormat = TranscriptFormat> =
  LineFormat<Name> | DocumentFormat<Name>;
