// What a reader of recorded sessions is: one value that tells how to recognize its format, how to read it, and what its agent's tools do.

import type { JsonRecord } from '../../shared/json.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import type { HistoryAssembler } from './history-assembler.js';
import type { TranscriptFormat, TranscriptPlace } from './transcript.js';

/** Reads a session into a history, record by record or message by message. */
export interface RecordReader {
  readonly read: (record: JsonRecord, place: TranscriptPlace) => void;
  /** Called after the last one. */
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
  /** Whether the agent writes such records. */
  readonly detectRecord: (record: JsonRecord) => boolean;
  readonly open: (history: HistoryAssembler) => RecordReader;
}

/** A format that is one JSON document with a list of messages, or that list alone. */
export interface DocumentFormat<
  Name extends TranscriptFormat = TranscriptFormat,
> extends CommonFormat<Name> {
  /** Whether the agent writes such documents; of a list alone, the document is empty. */
  readonly detectDocument: (document: JsonRecord, messages: readonly unknown[]) => boolean;
  /** The names that the list may have: the first that is there and not empty. */
  readonly lists: readonly [string, ...string[]];
  readonly open: (history: HistoryAssembler, document: JsonRecord) => RecordReader;
}

/** A format of recorded sessions. */
export type Format<Name extends TranscriptFormat = TranscriptFormat> =
  LineFormat<Name> | DocumentFormat<Name>;
