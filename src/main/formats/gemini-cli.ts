// Reads the chats of Gemini CLI (`~/.gemini/tmp/*/chats/session-*.json`), in which a model record holds its calls together with their
// results, and lists of the API's `Content`, the format of its checkpoints and of SDK logs.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { DocumentFormat } from './format.js';
import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import type { HistoryAssembler, RecordedResponse } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  withoutUndefined,
  type JsonRecord,
} from '../../shared/json.js';
import { asTimestamp } from './timestamp.js';
import type { TranscriptPlace } from './transcript.js';

/** Records of what the terminal showed besides the conversation. */
const NOTICES: ReadonlySet<string> = new Set(['info', 'error', 'warning']);

/** Whether messages are `Content`s of the API: a role and parts. */
function areContents(messages: readonly unknown[]): boolean {
  return messages.some((message) => {
    const content = asRecord(message);
    return typeof content?.['role'] === 'string' && Array.isArray(content['parts']);
  });
}

function isGeminiCliChat(document: JsonRecord): boolean {
  const first = asRecord(asArray(document['messages'])[0]);
  const hasTypedMessages = typeof first?.['type'] === 'string' && first['role'] === undefined;
  return Array.isArray(document['messages']) && ('projectHash' in document || hasTypedMessages);
}

function readGeminiCliMessage(
  record: JsonRecord,
  history: HistoryAssembler,
  place: TranscriptPlace,
): void {
  const type = asText(record['type']) ?? '';
  if (NOTICES.has(type)) return;
  if (type !== 'user' && type !== 'gemini') {
    history.tallyLeftOut('records of the unknown type', type);
    return;
  }
  const blocks = readParts(record['content'], history);
  if (blocks === undefined) {
    history.warn(`A ${type} record without readable content was left out.`, place);
    return;
  }
  const metadata = withoutUndefined({
    timestamp: asTimestamp(record['timestamp']),
    id: asText(record['id']),
  });
  if (type === 'user') history.addHuman(blocks, metadata);
  else readModelMessage(record, blocks, metadata, history, place);
}

function readModelMessage(
  record: JsonRecord,
  blocks: readonly ContentBlock[],
  metadata: ContentMetadata,
  history: HistoryAssembler,
  place: TranscriptPlace,
): void {
  const calls: ContentBlock[] = [];
  const responses: RecordedResponse[] = [];
  asArray(record['toolCalls']).forEach((item, index) => {
    const call = asRecord(item);
    const name = asFilledText(call?.['name']);
    if (call === undefined || name === undefined) {
      history.warn('A tool call without a name was left out.', place);
      return;
    }
    // A call without an id gets one that pairs it with the result in the same record.
    const id = asFilledText(call['id']) ?? `${place.place ?? 'message'}.toolCalls[${index}]`;
    calls.push({ type: 'tool_call', id, name, parameters: call['args'] ?? {} });
    const response = readResult(call, id);
    if (response !== undefined) responses.push(response);
  });
  history.addAi([...asArray(record['thoughts']).flatMap(readThought), ...blocks, ...calls], {
    ...metadata,
    ...withoutUndefined({ model: asText(record['model']), usage: asRecord(record['tokens']) }),
  });
  for (const response of responses) history.addResponse(response, place, metadata);
}

/** Reads a `Content`. Its calls and results are parts, often without ids; then they are paired in order. */
function readContentOfApi(
  content: JsonRecord,
  history: HistoryAssembler,
  place: TranscriptPlace,
): void {
  const parts = asArray(content['parts']).map((part) => asRecord(part) ?? {});
  const texts = parts.filter((part) => !('functionCall' in part) && !('functionResponse' in part));
  const blocks = readParts(texts, history) ?? [];
  if (content['role'] === 'model') {
    const calls = parts.flatMap((part) => readFunctionCall(part['functionCall']));
    history.addAi([...blocks, ...calls]);
    return;
  }
  for (const part of parts) {
    const answer = asRecord(part['functionResponse']);
    if (answer === undefined) continue;
    const response = answer['response'];
    const error = asRecord(response)?.['error'];
    history.addResponse(
      {
        ...withoutUndefined({ callId: asFilledText(answer['id']) }),
        result: outputOf(response) ?? '',
        ...(error !== undefined && error !== null && { error: errorLine(error) }),
      },
      place,
    );
  }
  history.addHuman(blocks);
}

function readFunctionCall(value: unknown): readonly ContentBlock[] {
  const call = asRecord(value);
  const name = asFilledText(call?.['name']);
  if (call === undefined || name === undefined) return [];
  const id = asText(call['id']) ?? '';
  return [{ type: 'tool_call', id, name, parameters: call['args'] ?? {} }];
}

/** Reads the parts of a message. Each text part becomes one block, because file inclusions are recognized by parts. */
function readParts(
  content: unknown,
  history: HistoryAssembler,
): readonly ContentBlock[] | undefined {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (typeof content !== 'object') return undefined;
  const parts = Array.isArray(content) ? asArray(content) : [content];
  return parts.flatMap((item): readonly ContentBlock[] => {
    const part = asRecord(item);
    const text = asText(item) ?? asText(part?.['text']);
    if (text !== undefined) {
      if (part?.['thought'] === true) return [{ type: 'thinking', thought: text }];
      return [{ type: 'text', text }];
    }
    const media = asRecord(part?.['inlineData']) ?? asRecord(part?.['fileData']);
    const mimeType = asText(media?.['mimeType']) ?? 'application/octet-stream';
    const data = asText(media?.['data']);
    const url = asText(media?.['fileUri']);
    if (data !== undefined) return [{ type: 'media', mimeType, data, encoding: 'base64' }];
    if (url !== undefined) return [{ type: 'media', mimeType, data: url, encoding: 'url' }];
    history.tally('message parts that are neither text nor media left out');
    return [];
  });
}

function readThought(item: unknown): readonly ContentBlock[] {
  const record = asRecord(item);
  const subject = asFilledText(record?.['subject']);
  const description = asFilledText(record?.['description']);
  const lines = [subject === undefined ? undefined : `**${subject}**`, description];
  const thought = lines.filter((line) => line !== undefined).join('\n');
  return thought === '' ? [] : [{ type: 'thinking', thought }];
}

/** Reads the result of a call; `undefined` if it had not returned when the chat was saved. */
function readResult(call: JsonRecord, callId: string): RecordedResponse | undefined {
  const status = asText(call['status']);
  const hasFailed = status === 'error' || status === 'cancelled';
  const answers = asArray(call['result']).map(
    (part) => asRecord(asRecord(part)?.['functionResponse'])?.['response'],
  );
  const result = answers.length === 1 ? outputOf(answers[0]) : undefined;
  const fallback = answers.length > 0 ? call['result'] : call['resultDisplay'];
  const output = result ?? fallback;
  if (output === undefined && !hasFailed && status !== 'success') return undefined;
  const error = asFilledText(asRecord(answers[0])?.['error']) ?? asText(output) ?? status;
  return { callId, result: output ?? '', ...(hasFailed && { error: errorLine(error) }) };
}

/** Returns the text of `{ output }` or `{ error }`, and any other response as it is. */
function outputOf(response: unknown): unknown {
  const record = asRecord(response);
  const keys = record === undefined ? [] : Object.keys(record);
  if (keys.length !== 1) return response;
  return asText(record?.['output']) ?? asText(record?.['error']) ?? response;
}

/** Sessions of Gemini CLI, and lists of `Content`. */
export const GEMINI_CLI: DocumentFormat<'gemini-cli'> = {
  name: 'gemini-cli',
  // Keys were taken from recorded sessions.
  toolCatalog: {
    read_file: readsFile('whole', ['absolute_path', 'file_path', 'path'], {
      first: 'offset',
      count: 'limit',
    }),
    read_many_files: [{ access: 'read', extent: 'whole', pathListKeys: ['paths', 'include'] }],
    write_file: writesFile('whole', ['file_path', 'absolute_path', 'path']),
    replace: writesFile('part', ['file_path', 'absolute_path', 'path']),
    run_shell_command: runsCommands(),
    search_file_content: searches(),
    glob: searches(),
    list_directory: searches(),
    google_web_search: searches(),
    ask_user: [{ access: 'ask' }],
    activate_skill: [{ access: 'instruct' }],
  },
  detectDocument: (document, messages) => isGeminiCliChat(document) || areContents(messages),
  lists: ['messages', 'history', 'contents'],
  open: (history) => ({
    read: (message, place) => {
      const read = Array.isArray(message['parts']) ? readContentOfApi : readGeminiCliMessage;
      read(message, history, place);
    },
  }),
};
