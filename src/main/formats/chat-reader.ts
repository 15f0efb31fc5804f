// Reads messages in the shape of OpenAI's chat API, with two ways of calling tools: the API's own, and
// calls written into the assistant's text, which the next user message answers.

import { shownText } from '../../shared/shown-text.js';
import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import type { HistoryAssembler } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  textOfParts,
  withoutUndefined,
  type JsonRecord,
} from '../../shared/json.js';
import { readToolCalls } from './openai-tool-calls.js';
import { asTimestamp } from './timestamp.js';
import type { TranscriptPlace } from './transcript.js';

/** How an agent differs from the plain chat API. */
export interface ChatDialect {
  /** The blocks of an assistant message that calls one tool in its text, that call included. */
  readonly readTextCall?: (
    message: JsonRecord,
    text: string,
  ) => readonly ContentBlock[] | undefined;
  /** Called with each text that a tool answered. */
  readonly onObservation?: (text: string) => void;
  /** What else is recorded about an assistant message. */
  readonly readMetadata?: (message: JsonRecord) => ContentMetadata;
}

/** Reads a conversation message by message. */
export class ChatReader {
  readonly #history: HistoryAssembler;
  readonly #dialect: ChatDialect;
  #awaitsObservation = false;

  constructor(history: HistoryAssembler, dialect: ChatDialect = {}) {
    this.#history = history;
    this.#dialect = dialect;
  }

  read(message: JsonRecord, place: TranscriptPlace): void {
    const role = asText(message['role']) ?? '';
    switch (role) {
      case 'system':
      case 'developer':
      case 'user':
        this.#readUser(message, role, place);
        break;
      case 'assistant':
        this.#readAssistant(message, place);
        break;
      case 'tool':
      case 'function':
        this.#readTool(message, place);
        break;
      default:
        this.#history.tally(`messages of the unknown role ${shownText(role)} left out`);
    }
  }

  #readUser(message: JsonRecord, role: string, place: TranscriptPlace): void {
    const blocks = readChatContent(message['content'], this.#history, place);
    if (role === 'user' && this.#awaitsObservation) {
      this.#awaitsObservation = false;
      this.#addObservation(undefined, message['content'], message, place);
      return;
    }
    const isSynthetic = role !== 'user' || message['is_demo'] === true;
    this.#history.addHuman(blocks, {
      ...commonMetadata(message),
      ...(isSynthetic && { synthetic: true }),
    });
  }

  #readAssistant(message: JsonRecord, place: TranscriptPlace): void {
    const blocks = readChatContent(message['content'], this.#history, place);
    const calls = readToolCalls(message, this.#history, place);
    const text = textOfParts(message['content']) ?? '';
    const called = calls.length > 0 ? undefined : this.#dialect.readTextCall?.(message, text);
    this.#awaitsObservation = called !== undefined;
    this.#history.addAi([...readReasoning(message), ...(called ?? [...blocks, ...calls])], {
      ...commonMetadata(message),
      ...this.#dialect.readMetadata?.(message),
    });
  }

  #readTool(message: JsonRecord, place: TranscriptPlace): void {
    const ids = [message['tool_call_id'], ...asArray(message['tool_call_ids'])];
    const [callId, ...others] = ids.map(asFilledText).filter((id) => id !== undefined);
    this.#addObservation(callId, message['content'], message, place);
    // One message that answers several calls says everything once.
    for (const other of others) this.#addObservation(other, '', message, place);
  }

  #addObservation(
    callId: string | undefined,
    content: unknown,
    message: JsonRecord,
    place: TranscriptPlace,
  ): void {
    const result = textOfParts(content) ?? content ?? '';
    const error = typeof result === 'string' ? observedFailure(result) : undefined;
    if (typeof result === 'string') this.#dialect.onObservation?.(result);
    this.#history.addResponse(
      { ...withoutUndefined({ callId, error }), result },
      place,
      commonMetadata(message),
    );
  }
}

/**
 * The agents that record chats have no field for failure; their editors say it at the beginning of
 * what they return. It matters because an edit that failed did not write.
 */
function observedFailure(text: string): string | undefined {
  const observation = text.replace(/^OBSERVATION:\s*/, '');
  const isFailure = /^(?:ERROR:|No replacement was performed|Your proposed edit has introduced)/;
  return isFailure.test(observation) ? errorLine(observation.replace(/^ERROR:\s*/, '')) : undefined;
}

function commonMetadata(message: JsonRecord): ContentMetadata {
  return withoutUndefined({
    timestamp: asTimestamp(message['timestamp'] ?? message['ts']),
    id: asText(message['id']),
    model: asText(message['model']),
    usage: asRecord(message['usage']),
  });
}

/** Reasoning as several compatible providers return it beside the content. */
function readReasoning(message: JsonRecord): readonly ContentBlock[] {
  for (const sourceField of ['reasoning_content', 'reasoning']) {
    const thought = asFilledText(message[sourceField]);
    if (thought !== undefined) return [{ type: 'thinking', thought, sourceField }];
  }
  return [];
}

/** Reads content that is text, a list of parts, or absent. What cannot be read is told and left out. */
function readChatContent(
  content: unknown,
  history: HistoryAssembler,
  place: TranscriptPlace,
): readonly ContentBlock[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    history.warn('Content that is neither text nor a list was left out.', place);
    return [];
  }
  return asArray(content).flatMap((item): readonly ContentBlock[] => {
    const part = asRecord(item);
    const text = asText(item) ?? asText(part?.['text']) ?? asText(part?.['refusal']);
    if (text !== undefined) return [{ type: 'text', text }];
    const image = part?.['image_url'];
    const url = asText(image) ?? asText(asRecord(image)?.['url']);
    if (url !== undefined) return [readImage(url)];
    history.tally(
      `content parts of the unknown type ${shownText(asText(part?.['type']) ?? '')} left out`,
    );
    return [];
  });
}

function readImage(url: string): ContentBlock {
  const mimeType = /^data:([^;,]*);base64,/.exec(url);
  if (mimeType === null) return { type: 'media', mimeType: 'image/*', data: url, encoding: 'url' };
  return {
    type: 'media',
    mimeType: mimeType[1] ?? 'image/*',
    data: url.slice(mimeType[0].length),
    encoding: 'base64',
  };
}
