// Reads messages in the format of OpenAI's chat API. Tool calls are either the API's own, or written
// into the assistant's text and answered by the next user message.

import type { ContentBlock, ToolCallBlock } from '../../shared/content.js';
import type { HistoryAssembler, RecordedMetadata } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  parseArguments,
  textOfParts,
  type JsonRecord,
} from '../../shared/json.js';
import { readContent } from './content-parts.js';
import { mediaBlock } from './media.js';
import { wordSet } from '../../shared/word-lists.js';
import { asTimestamp } from './timestamp.js';

/** What an agent adds to the plain chat API. */
export interface ChatDialect {
  /** Returns the blocks, call included, of an assistant message that calls one tool in its text. */
  readonly readTextCall?: (
    message: JsonRecord,
    text: string,
  ) => readonly ContentBlock[] | undefined;
  /** Called with the text of each tool response. */
  readonly onObservation?: (text: string) => void;
}

/** The roles of messages. */
export const CHAT_ROLES: ReadonlySet<unknown> = wordSet(
  'system developer user assistant tool function',
);

/** Reads a conversation message by message. */
export class ChatReader {
  readonly #history: HistoryAssembler;
  readonly #dialect: ChatDialect;
  #awaitsObservation = false;

  constructor(history: HistoryAssembler, dialect: ChatDialect = {}) {
    this.#history = history;
    this.#dialect = dialect;
  }

  read(message: JsonRecord): void {
    const role = asText(message['role']) ?? '';
    if (role === 'assistant') this.#readAssistant(message);
    else if (role === 'tool' || role === 'function') this.#readTool(message);
    else if (CHAT_ROLES.has(role)) this.#readUser(message, role);
    else this.#history.tallyLeftOut('messages of the unknown role', role);
  }

  #readUser(message: JsonRecord, role: string): void {
    const blocks = readOpenAiContent(message['content'], this.#history);
    if (role === 'user' && this.#awaitsObservation) {
      this.#awaitsObservation = false;
      this.#addObservation(undefined, message['content'], message);
      return;
    }
    const isSynthetic = role !== 'user' || message['is_demo'] === true;
    this.#history.addHuman(blocks, {
      ...metadataOf(message),
      ...(isSynthetic && { synthetic: true }),
    });
  }

  #readAssistant(message: JsonRecord): void {
    const blocks = readOpenAiContent(message['content'], this.#history);
    const calls = readToolCalls(message);
    const text = textOfParts(message['content']) ?? '';
    const called = calls.length > 0 ? undefined : this.#dialect.readTextCall?.(message, text);
    this.#awaitsObservation = called !== undefined;
    const read = [...readReasoning(message), ...(called ?? [...blocks, ...calls])];
    this.#history.addAi(read, metadataOf(message));
  }

  #readTool(message: JsonRecord): void {
    const ids = [message['tool_call_id'], ...asArray(message['tool_call_ids'])];
    const [callId, ...others] = ids.map(asFilledText).filter((id) => id !== undefined);
    this.#addObservation(callId, message['content'], message);
    // A message that answers several calls has a single content: the first call gets it, the others an empty result.
    for (const other of others) this.#addObservation(other, '', message);
  }

  #addObservation(callId: string | undefined, content: unknown, message: JsonRecord): void {
    const result = textOfParts(content) ?? content ?? '';
    const error = typeof result === 'string' ? observedFailure(result) : undefined;
    if (typeof result === 'string') this.#dialect.onObservation?.(result);
    this.#history.addResponse({ callId, result, error }, metadataOf(message));
  }
}

/**
 * Returns the error of a failed editor call. Recorded chats have no field for errors; editors report them at the start of their
 * output. They matter because a failed edit must not count as a write.
 */
function observedFailure(text: string): string | undefined {
  const observation = text.replace(/^OBSERVATION:\s*/, '');
  const isFailure = /^(?:ERROR:|No replacement was performed|Your proposed edit has introduced)/;
  return isFailure.test(observation) ? errorLine(observation.replace(/^ERROR:\s*/, '')) : undefined;
}

function metadataOf(message: JsonRecord): RecordedMetadata {
  return {
    timestamp: asTimestamp(message['timestamp'] ?? message['ts']),
    id: asText(message['id']),
    model: asText(message['model']),
    usage: asRecord(message['usage']),
  };
}

/** Reads reasoning, which several compatible providers return in a field of its own. */
function readReasoning(message: JsonRecord): readonly ContentBlock[] {
  for (const sourceField of ['reasoning_content', 'reasoning']) {
    const thought = asFilledText(message[sourceField]);
    if (thought !== undefined) return [{ type: 'thinking', thought, sourceField }];
  }
  return [];
}

/** Reads content of OpenAI's APIs. */
export function readOpenAiContent(
  content: unknown,
  history: HistoryAssembler,
): readonly ContentBlock[] {
  return readContent(content, history, (item) => {
    const part = asRecord(item);
    const text = asText(item) ?? asText(part?.['text']) ?? asText(part?.['refusal']);
    if (text !== undefined) return { type: 'text', text };
    const image = part?.['image_url'];
    return mediaBlock('image/*', undefined, asRecord(image)?.['url'] ?? image);
  });
}

/** Reads the calls of a message: `tool_calls`, and the `function_call` of the older API. */
function readToolCalls(message: JsonRecord): readonly ToolCallBlock[] {
  const legacy = asRecord(message['function_call']);
  const recorded = [
    ...asArray(message['tool_calls']),
    ...(legacy === undefined ? [] : [{ function: legacy }]),
  ];
  return recorded.map((item): ToolCallBlock => {
    const call = asRecord(item);
    // LangChain puts the name into the call itself.
    const called = asRecord(call?.['function']) ?? asRecord(call?.['custom']) ?? call;
    const name = asText(called?.['name']) ?? '';
    const input = asText(called?.['input']);
    const parameters =
      input === undefined ? parseArguments(called?.['arguments'] ?? called?.['args']) : { input };
    return { type: 'tool_call', id: asText(call?.['id']) ?? '', name, parameters };
  });
}
