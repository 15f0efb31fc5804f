// Reads transcripts that are one JSON document.

import { asRecord } from '../../shared/json.js';
import type { DocumentFormat } from './format.js';
import { listOf } from './formats.js';
import type { HistoryAssembler } from './history-assembler.js';
import { jsonErrorOffset, lineAndColumn } from './json-error-offset.js';
import { unreadable } from './transcript-text.js';

/**
 * Parses a document.
 *
 * @throws CtxfoldError `UNREADABLE_TRANSCRIPT`, with the position at which the text stops being JSON.
 */
export function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const offset = jsonErrorOffset(text);
    const { line, column } = lineAndColumn(text, offset);
    const what = offset >= text.trimEnd().length ? 'ends too early' : 'is damaged';
    throw unreadable(
      `The transcript's JSON ${what} at line ${line}, column ${column} (character ${offset}).`,
      error,
    );
  }
}

/**
 * Reads a document's messages into the history. Yields after each, so that the caller can drain entries.
 *
 * @throws CtxfoldError `UNREADABLE_TRANSCRIPT` if the document has no list of messages.
 */
export function* readDocument(
  document: unknown,
  format: DocumentFormat,
  history: HistoryAssembler,
): Generator<undefined> {
  const list = listOf(document, format);
  if (list === undefined) {
    const { name, lists } = format;
    throw unreadable(`The transcript is no ${name} document: it has no list "${lists[0]}".`);
  }
  const reader = format.open(history, asRecord(document) ?? {});
  for (const [index, item] of list.messages.entries()) {
    const place = { place: `${list.name}[${index}]` };
    const message = asRecord(item);
    if (message === undefined) history.warn('A message that is no object was left out.', place);
    else reader.read(message, place);
    yield undefined;
  }
  reader.finish?.();
}
