// Reads the chats of Gemini CLI (`~/.gemini/tmp/*/chats/session-*`): documents, and logs of newer versions, in which a model record holds
// its calls together with their results. Also reads lists of the API's `Content`, the format of its checkpoints and of SDK logs.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { Format, RecordReader } from './format.js';
import { GeminiLogReader, isGeminiLogRecord } from './gemini-log.js';
import type { ContentBlock, ToolCallBlock } from '../../shared/content.js';
import type { HistoryAssembler, RecordedMetadata, RecordedResponse } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  type JsonRecord,
} from '../../shared/json.js';
import { mediaBlock } from './media.js';
import { timeOf } from './timestamp.js';

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

/** Reads messages: records of a chat, and `Content`s. */
class GeminiReader implements RecordReader {
  readonly #history: HistoryAssembler;
  /** Ids of the calls whose results were read. Newer versions record results twice. */
  readonly #answered = new Set<string>();

  constructor(history: HistoryAssembler) {
    this.#history = history;
  }

  /** @param kept metadata to add if a compaction kept the message */
  read(message: JsonRecord, kept: RecordedMetadata = {}): void {
    const type = asText(message['type']) ?? '';
    if (Array.isArray(message['parts'])) this.#readContent(message);
    else if (type === 'user' || type === 'gemini') this.#readRecord(message, type, kept);
    else if (!NOTICES.has(type)) this.#history.tallyLeftOut('records of the unknown type', type);
  }

  #readRecord(record: JsonRecord, type: 'user' | 'gemini', kept: RecordedMetadata): void {
    const parts = partsOf(record['content']);
    if (parts === undefined) {
      this.#history.warn(`A ${type} record without readable content was left out.`);
      return;
    }
    const metadata = { ...timeOf(record), id: asText(record['id']), ...kept };
    if (type === 'gemini') {
      this.#readAnswer(record, parts, metadata);
      return;
    }
    for (const response of parts.flatMap(readFunctionResponse)) {
      const { callId } = response;
      if (callId === undefined || !this.#answered.has(callId)) {
        this.#history.addResponse(response, metadata);
      }
    }
    this.#history.addHuman(readParts(parts, this.#history), metadata);
  }

  #readAnswer(record: JsonRecord, parts: readonly unknown[], metadata: RecordedMetadata): void {
    const thoughts = asArray(record['thoughts']).flatMap(readThought);
    const blocks = readParts(parts, this.#history);
    const calls = parts.flatMap(readFunctionCall);
    const inContent = new Set(calls.map(({ id }) => id));
    const responses: RecordedResponse[] = [];
    asArray(record['toolCalls']).forEach((item, index) => {
      const call = asRecord(item) ?? {};
      const name = asText(call['name']) ?? '';
      // A call without an id gets one that pairs it with the result in the same record.
      const id =
        asFilledText(call['id']) ?? `${this.#history.place.place ?? 'message'}.toolCalls[${index}]`;
      if (!inContent.has(id)) {
        calls.push({ type: 'tool_call', id, name, parameters: call['args'] ?? {} });
      }
      // A call without a name is left out with a warning, and its result with it.
      const response = name === '' ? undefined : readResult(call, id);
      if (response === undefined) return;
      responses.push(response);
      this.#answered.add(id);
    });
    const isThoughtInContent = blocks.some(({ type }) => type === 'thinking');
    this.#history.addAi([...(isThoughtInContent ? [] : thoughts), ...blocks, ...calls], {
      ...metadata,
      model: asText(record['model']),
      usage: asRecord(record['tokens']),
    });
    for (const response of responses) this.#history.addResponse(response, metadata);
  }

  /** Reads a `Content`. Its calls and results are parts, often without ids; then they are paired in order. */
  #readContent(content: JsonRecord): void {
    const parts = asArray(content['parts']);
    const blocks = readParts(parts, this.#history);
    if (content['role'] === 'model') {
      this.#history.addAi([...blocks, ...parts.flatMap(readFunctionCall)]);
      return;
    }
    const responses = parts.flatMap(readFunctionResponse);
    const last = responses.pop();
    // Media beside responses, in a content that has nothing else, are what a tool has shown.
    const areShown = last !== undefined && blocks.every(({ type }) => type === 'media');
    for (const response of responses) this.#history.addResponse(response);
    if (last !== undefined) {
      const result = areShown ? withShown(last.result, parts) : last.result;
      this.#history.addResponse({ ...last, result });
    }
    if (!areShown) this.#history.addHuman(blocks);
  }
}

function readFunctionResponse(part: unknown): readonly RecordedResponse[] {
  const answer = asRecord(asRecord(part)?.['functionResponse']);
  if (answer === undefined) return [];
  const response = answer['response'];
  const error = asRecord(response)?.['error'];
  return [
    {
      callId: asFilledText(answer['id']),
      result: outputOf(response) ?? '',
      error: error === undefined || error === null ? undefined : errorLine(error),
    },
  ];
}

/** A result with the media beside its response, which count with it. */
function withShown(result: unknown, parts: readonly unknown[]): unknown {
  const media = parts.filter((part) => {
    const { inlineData, fileData } = asRecord(part) ?? {};
    return (inlineData ?? fileData) !== undefined;
  });
  return media.length === 0 ? result : [result, ...media];
}

function readFunctionCall(part: unknown): readonly ToolCallBlock[] {
  const call = asRecord(asRecord(part)?.['functionCall']);
  if (call === undefined) return [];
  const name = asText(call['name']) ?? '';
  const id = asText(call['id']) ?? '';
  return [{ type: 'tool_call', id, name, parameters: call['args'] ?? {} }];
}

/** Returns the parts of content that is a text, a part, or a list of either. */
function partsOf(content: unknown): readonly unknown[] | undefined {
  if (content === undefined || content === null) return [];
  if (typeof content !== 'string' && typeof content !== 'object') return undefined;
  return Array.isArray(content) ? asArray(content) : [content];
}

/** Reads texts and media. Each text part becomes a block of its own, because file inclusions are recognized by block. */
function readParts(parts: readonly unknown[], history: HistoryAssembler): readonly ContentBlock[] {
  return parts.flatMap((item): readonly ContentBlock[] => {
    const part = asRecord(item);
    if (part !== undefined && ('functionCall' in part || 'functionResponse' in part)) return [];
    const text = asText(item) ?? asText(part?.['text']);
    if (text !== undefined) {
      if (part?.['thought'] === true) return [{ type: 'thinking', thought: text }];
      return [{ type: 'text', text }];
    }
    const media = asRecord(part?.['inlineData']) ?? asRecord(part?.['fileData']);
    const mimeType = asText(media?.['mimeType']) ?? 'application/octet-stream';
    const block = mediaBlock(mimeType, media?.['data'], media?.['fileUri']);
    if (block !== undefined) return [block];
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
  const recorded = asArray(call['result']).map((part) =>
    asRecord(asRecord(part)?.['functionResponse']),
  );
  // After Gemini CLI has shortened results, each parallel call records the results of all parallel calls.
  const own = recorded.filter((answer) => answer?.['id'] === callId);
  const answers = (own.length > 0 ? own : recorded).map((answer) => answer?.['response']);
  const result = answers.length === 1 ? outputOf(answers[0]) : undefined;
  const fallback = answers.length > 0 ? call['result'] : call['resultDisplay'];
  const output = result === undefined ? fallback : withShown(result, asArray(call['result']));
  if (output === undefined && !hasFailed && status !== 'success') return undefined;
  const error = asFilledText(asRecord(answers[0])?.['error']) ?? asText(output) ?? status;
  return { callId, result: output ?? '', error: hasFailed ? errorLine(error) : undefined };
}

/** Returns the text of `{ output }` or `{ error }`, and any other response as it is. */
function outputOf(response: unknown): unknown {
  const record = asRecord(response);
  const keys = record === undefined ? [] : Object.keys(record);
  if (keys.length !== 1) return response;
  return asText(record?.['output']) ?? asText(record?.['error']) ?? response;
}

/** Sessions of Gemini CLI, and lists of `Content`. */
export const GEMINI_CLI: Format<'gemini-cli'> = {
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
  document: {
    detect: (document, messages) => isGeminiCliChat(document) || areContents(messages),
    lists: ['messages', 'history', 'contents'],
  },
  detectRecord: isGeminiLogRecord,
  open: (history, document) => {
    const reader = new GeminiReader(history);
    if (document !== undefined) return reader;
    return new GeminiLogReader(history, (message, kept) => {
      reader.read(message, kept);
    });
  },
};
