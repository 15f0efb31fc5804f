// The interface of a format of recorded sessions: how to detect it, how to read it, and what its agent's tools do.

import type { JsonRecord } from '../../shared/json.js';
import type { ToolCatalog } from '../../shared/tool-use.js';
import type { HistoryAssembler } from './history-assembler.js';
import type { TranscriptFormat, TranscriptPlace } from './transcript.js';

/** Reads a session into a history, one record or message at a time. */
export interface RecordReader {
  /** `place` of the history is that of the record. A reader that buffers records sets it again. */
  readonly read: (record: JsonRecord) => void;
  /** Called after the last record. */
  readonly finish?: () => void;
}

/** A record that a reader keeps for later. */
export interface PlacedRecord {
  readonly record: JsonRecord;
  readonly place: TranscriptPlace;
}

/** A format of recorded sessions: records in JSON Lines, a JSON document with messages, or both. */
export interface Format<Name extends TranscriptFormat = TranscriptFormat> {
  readonly name: Name;
  /** What the agent's tools do. */
  readonly toolCatalog: ToolCatalog;
  /** Whether a record of JSON Lines is of this format. Absent if the format has no such records. */
  readonly detectRecord?: (record: JsonRecord) => boolean;
  /** Absent if the format is not a document. The messages may also be JSON Lines, as a bare list of them. */
  readonly document?: DocumentShape;
  /** Opens a reader. A format that is both kinds gets a document only if it reads one; it is empty if that is a bare list. */
  readonly open: (history: HistoryAssembler, document?: JsonRecord) => RecordReader;
}

/** What a JSON document looks like that has a list of messages, or is that list. */
export interface DocumentShape {
  /** Whether a document is of this format. If the document is a bare list, `document` is empty. */
  readonly detect: (document: JsonRecord, messages: readonly unknown[]) => boolean;
  /** Possible keys of the list; the first that holds a non-empty one is read. */
  readonly lists: readonly [string, ...string[]];
}
