// Reads the transcripts that are one JSON document, message by message.

import { ChatReader } from './chat-reader.js';
import { readClineMessage } from './cline.js';
import type { DocumentFormat } from './detect-format.js';
import { readGeminiCliMessage } from './gemini-cli.js';
import type { HistoryAssembler } from './history-assembler.js';
import { jsonErrorOffset, lineAndColumn } from './json-error-offset.js';
import { asArray, asRecord, type JsonRecord } from '../../shared/json.js';
import { MINI_SWE_AGENT_DIALECT, miniSweAgentWorkspaceRoot } from './mini-swe-agent.js';
import { createSweAgentReader, sweAgentMessages, sweAgentWorkspaceRoot } from './swe-agent.js';
import { unreadable } from './transcript-text.js';
import type { TranscriptPlace } from './transcript.js';
import { readXmlFunctionCall } from './xml-function-call.js';

type ReadMessage = (message: JsonRecord, place: TranscriptPlace) => void;

/**
 * Parses a document.
 *
 * @throws CtxfoldError `UNREADABLE_TRANSCRIPT` that tells where the text stops being JSON.
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
 * Reads a document's messages into the history. Yields after each, so that entries can be handed out.
 *
 * @throws CtxfoldError `UNREADABLE_TRANSCRIPT` when the document has no list of messages.
 */
export function* readDocument(
  document: unknown,
  format: DocumentFormat,
  history: HistoryAssembler,
): Generator<undefined> {
  const record = asRecord(document);
  const { name, messages } = messagesOf(document, record, format);
  if (format === 'swe-agent') history.setWorkspaceRoot(record && sweAgentWorkspaceRoot(record));
  if (format === 'mini-swe-agent') {
    history.setWorkspaceRoot(record && miniSweAgentWorkspaceRoot(record));
  }
  const read = messageReader(format, history);
  for (const [index, item] of messages.entries()) {
    const place = { place: `${name}[${index}]` };
    const message = asRecord(item);
    if (message === undefined) history.warn('A message that is no object was left out.', place);
    else read(message, place);
    yield undefined;
  }
}

function messagesOf(
  document: unknown,
  record: JsonRecord | undefined,
  format: DocumentFormat,
): { readonly name: string; readonly messages: readonly unknown[] } {
  if (format === 'swe-agent' && record !== undefined) {
    const found = sweAgentMessages(record);
    if (Array.isArray(record[found.name])) return found;
  }
  const isBare = Array.isArray(document);
  const messages = isBare ? document : record?.['messages'];
  if (!Array.isArray(messages)) {
    const list = format === 'swe-agent' ? 'history' : 'messages';
    throw unreadable(`The transcript is no ${format} document: it has no list "${list}".`);
  }
  return { name: isBare ? '' : 'messages', messages: asArray(messages) };
}

function messageReader(format: DocumentFormat, history: HistoryAssembler): ReadMessage {
  switch (format) {
    case 'gemini-cli':
      return (message, place) => {
        readGeminiCliMessage(message, history, place);
      };
    case 'cline':
      return (message, place) => {
        readClineMessage(message, history, place);
      };
    case 'openai-chat':
      return chatReader(
        new ChatReader(history, { readTextCall: (_, text) => readXmlFunctionCall(text) }),
      );
    case 'mini-swe-agent':
      return chatReader(new ChatReader(history, MINI_SWE_AGENT_DIALECT));
    case 'swe-agent':
      return chatReader(createSweAgentReader(history));
  }
}

function chatReader(reader: Pick<ChatReader, 'read'>): ReadMessage {
  return (message, place) => {
    reader.read(message, place);
  };
}
