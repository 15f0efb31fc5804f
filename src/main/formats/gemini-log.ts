// Reads the logs of Gemini CLI (`~/.gemini/tmp/*/chats/**/*.jsonl`): a header, then messages. A message replaces an earlier one with
// the same id. A `$rewindTo` record removes a message and all after it; a `$set` record may replace the list of messages.

import { asArray, asRecord, asText, type JsonRecord } from '../../shared/json.js';
import type { PlacedRecord, RecordReader } from './format.js';
import { ABANDONED_BRANCH } from './history-assembler.js';
import type { HistoryAssembler, RecordedMetadata } from './history-assembler.js';

/** Reads a message into the history. `kept` is metadata to add if a compaction kept the message. */
type ReadMessage = (message: JsonRecord, kept: RecordedMetadata) => void;

/** Whether a record belongs to such a log. A whole chat document on one line, recognizable by its `messages`, does not. */
export function isGeminiLogRecord(record: JsonRecord): boolean {
  const isHeader =
    typeof record['sessionId'] === 'string' && typeof record['projectHash'] === 'string';
  if (isHeader) return !Array.isArray(record['messages']);
  if (asRecord(record['$set']) !== undefined || typeof record['$rewindTo'] === 'string')
    return true;
  return record['type'] === 'gemini' && typeof record['id'] === 'string';
}

interface Message extends PlacedRecord {
  readonly isKept: boolean;
}

/** Reads a log. Buffers the messages of a context, because a later record may remove any of them. */
export class GeminiLogReader implements RecordReader {
  readonly #history: HistoryAssembler;
  readonly #readMessage: ReadMessage;
  readonly #messages = new Map<string, Message>();

  constructor(history: HistoryAssembler, readMessage: ReadMessage) {
    this.#history = history;
    this.#readMessage = readMessage;
  }

  read(record: JsonRecord): void {
    const { place } = this.#history;
    const rewindTo = asText(record['$rewindTo']);
    const list = asRecord(record['$set'])?.['messages'];
    const id = asText(record['id']);
    if (rewindTo !== undefined) this.#rewind(rewindTo);
    else if (Array.isArray(list)) this.#replace(asArray(list));
    else if (id !== undefined) this.#messages.set(id, { record, place, isKept: false });
  }

  finish(): void {
    for (const { record, place, isKept } of this.#messages.values()) {
      this.#history.place = place;
      this.#readMessage(record, isKept ? { isKept } : {});
    }
    this.#messages.clear();
  }

  #rewind(to: string): void {
    const ids = [...this.#messages.keys()];
    // If there is no such message, removes all of them, as the agent does.
    for (const id of ids.slice(Math.max(0, ids.indexOf(to)))) {
      this.#messages.delete(id);
      this.#history.tally(ABANDONED_BRANCH);
    }
  }

  /** Reads a replaced list. If it lacks a message of the model, it is a compaction; other lists only add messages or shorten some. */
  #replace(list: readonly unknown[]): void {
    const { place } = this.#history;
    const listed = new Map(
      list.map(asRecord).flatMap((record) => {
        const id = asText(record?.['id']);
        return record === undefined || id === undefined ? [] : [[id, record]];
      }),
    );
    const isCompaction = Array.from(this.#messages).some(
      ([id, { record }]) => record['type'] === 'gemini' && !listed.has(id),
    );
    if (isCompaction) {
      this.finish();
      this.#history.beginContext();
    }
    for (const [id, record] of listed) {
      if (!this.#messages.has(id)) this.#messages.set(id, { record, place, isKept: isCompaction });
    }
  }
}
