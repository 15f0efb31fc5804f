// The format of OpenAI's Chat Completions, of servers with the same API, and of Ollama's own API: a list of messages.

import type OpenAI from 'openai';
import { isInstruction, opaqueBlockOf } from '../format/blocks.js';
import { isSameButForCacheMarks } from '../format/cache-marks.js';
import { thinkingBlock, toolCall } from '../../shared/content.js';
import type { ContentBlock, IContent, ToolCallBlock } from '../../shared/content.js';
import { asArray, asFilledText, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type {
  MessageFormat,
  MessageReader,
  PartEdits,
  PlacedEntry,
  Reading,
} from '../format/message-format.js';
import { estimateOpaqueTokens } from '../format/opaque-tokens.js';
import { madeFrom } from '../format/originals.js';
import { fixedIf, groupOfCalls, joinTexts, placed, placedInOrder } from '../format/placed.js';
import { editedContent, withText } from '../format/part-edits.js';
import { plainData, spreadable } from '../format/plain-data.js';
import { reasoningOfHosted } from '../request/claude-reasoning.js';
import {
  callArguments,
  NamedCalls,
  readContent,
  readFunctionOutput,
  rewriteOutput,
} from './content-parts.js';

export type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
type AssistantMessage = OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam;

/**
 * Messages of Chat Completions. The parts of a user message are its content parts, or its text. A tool message is one part. The
 * parts of an assistant message are, in this order: the reasoning that some servers put beside the content, the content parts,
 * a refusal, audio, the call of the older API (`function_call`), and each tool call. An empty text counts only if there is no other
 * part. System and developer messages, messages with unknown roles, and results whose call is missing are pinned. Calls of the older
 * API and of Ollama's own API have no ids: their results name the function, and follow the calls in order.
 */
export const chatMessageFormat: MessageFormat<ChatMessage> = {
  sdk: 'chat',
  createReader: () => new ChatReader(),
  isSame: isSameButForCacheMarks,
  rewrite: (given, edits) => madeFrom(rewriteMessage(spreadable(given), edits), given),
  isInstruction,
  // For Claude behind a gateway: its reasoning is in the messages.
  reasoningOf: reasoningOfHosted,
  // OpenAI itself accepts such a request; only servers with other models behind them refuse it.
  mayNotOpen: ({ role }) => role === 'assistant',
  write: ({ speaker, blocks }: IContent) => ({
    role: speaker === 'ai' ? 'assistant' : 'user',
    content: joinTexts(blocks),
  }),
};

class ChatReader implements MessageReader<ChatMessage> {
  readonly #calls = new NamedCalls();
  /** The calls of the last assistant message that no result has answered yet. */
  readonly #open = new Map<string, ToolCallBlock>();

  read(given: ChatMessage, index: number, reading: Reading): void {
    const message = plainData(given, `message ${index}`);
    const entry = this.#readMessage(message, index);
    if (entry === undefined) reading.pinnedTokens += estimateOpaqueTokens(message);
    else reading.entries.push(entry);
  }

  #readMessage(value: unknown, index: number): PlacedEntry | undefined {
    const where = `message ${index}`;
    const message = asRecord(value);
    const role = asText(message?.['role']);
    if (message === undefined || role === undefined) {
      throw new TypeError(`Expected a message, an object with a role, at ${where}.`);
    }
    switch (role) {
      case 'user':
        return {
          speaker: 'human',
          blocks: placedInOrder(readContent(message['content'], where), index),
        };
      case 'assistant':
        return this.#readAssistant(message, index, where);
      case 'tool':
      case 'function':
        return this.#readTool(message, index, where);
      default:
        return undefined;
    }
  }

  #readAssistant(message: JsonRecord, index: number, where: string): PlacedEntry {
    const calls = asArray(message['tool_calls']);
    const group = groupOfCalls(
      calls.map((call) => isSigned(call, message)),
      index,
    );
    const blocks = partsOf(message, where).map(({ block }, part) =>
      block.type === 'tool_call'
        ? { ...block, id: block.id || `#${index}.${part}`, ...group }
        : block,
    );
    this.#calls.add(blocks, false);
    this.#open.clear();
    for (const block of blocks) if (block.type === 'tool_call') this.#open.set(block.id, block);
    return { speaker: 'ai', blocks: placedInOrder(blocks, index) };
  }

  #readTool(message: JsonRecord, index: number, where: string): PlacedEntry | undefined {
    const named = asText(message['tool_call_id']);
    const callId = asFilledText(named) ?? this.#nextOpen(message)?.id ?? named;
    if (callId === undefined && message['role'] === 'function') return undefined;
    if (callId === undefined) throw new TypeError(`Expected a tool_call_id in ${where}, a tool's.`);
    this.#open.delete(callId);
    const response = this.#calls.answer(callId, readFunctionOutput(message['content'] ?? ''));
    return response && { speaker: 'tool', blocks: [placed(response, index, 0)] };
  }

  /** Returns the call that a result without an id answers. */
  #nextOpen({ tool_name: tool, name = tool }: JsonRecord): ToolCallBlock | undefined {
    for (const call of this.#open.values()) {
      if (name === undefined || call.name === name) return call;
    }
    return undefined;
  }
}

/** Fields in which compatible servers return reasoning. They need it back together with the calls that it led to. */
const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'thinking'] as const;

/** Fields in which gateways to other APIs (OpenRouter, LiteLLM) return the same reasoning as a list of signed items. */
const REASONING_LISTS = ['reasoning_details', 'thinking_blocks'] as const;

type AssistantField =
  | (typeof REASONING_FIELDS)[number]
  | (typeof REASONING_LISTS)[number]
  | 'content'
  | 'refusal'
  | 'audio'
  | 'function_call'
  | 'tool_calls';

/** A part of an assistant message, and the field that it is in. */
interface AssistantPart {
  readonly field: AssistantField;
  readonly block: ContentBlock;
}

function partsOf(message: JsonRecord, where: string): readonly AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const field of REASONING_FIELDS) {
    const thought = asFilledText(message[field]);
    if (thought === undefined) continue;
    parts.push({ field, block: thinkingBlock(thought, { sourceField: field }) });
  }
  const isInFields = parts.length > 0;
  for (const field of REASONING_LISTS) {
    const items = asArray(message[field]).map((item) => asRecord(item) ?? {});
    if (items.length === 0) continue;
    const texts = items.map(({ text, thinking, summary }) => asText(text ?? thinking ?? summary));
    const thought = isInFields ? '' : texts.filter((text) => text !== undefined).join('\n');
    parts.push({ field, block: thinkingBlock(thought, { sourceField: field }) });
  }
  const { content, refusal, audio, function_call: called, tool_calls: calls } = message;
  const isEmpty = content === '' || (Array.isArray(content) && content.length === 0);
  if (content !== undefined && content !== null && !isEmpty) {
    for (const block of readContent(content, where)) parts.push({ field: 'content', block });
  }
  if (asFilledText(refusal) !== undefined) {
    parts.push({ field: 'refusal', block: opaqueBlockOf('refusal', refusal) });
  }
  if (asRecord(audio) !== undefined) {
    parts.push({ field: 'audio', block: opaqueBlockOf('audio', audio) });
  }
  if (asFilledText(asRecord(called)?.['name']) !== undefined) {
    parts.push({ field: 'function_call', block: readCall({ function: called }, message, where) });
  }
  for (const [at, call] of asArray(calls).entries()) {
    const block = readCall(call, message, `${where}, tool call ${at}`);
    parts.push({ field: 'tool_calls', block });
  }
  if (parts.length === 0) parts.push({ field: 'content', block: { type: 'text', text: '' } });
  return parts;
}

function readCall(value: unknown, message: JsonRecord, where: string): ContentBlock {
  const call = asRecord(value);
  const custom = asRecord(call?.['custom']);
  const called = asRecord(call?.['function']) ?? custom;
  const id = asText(call?.['id']) ?? '';
  const name = asText(called?.['name']);
  if (name === undefined) throw new TypeError(`Expected a tool call with a name at ${where}.`);
  const parameters =
    called === custom ? { input: custom?.['input'] ?? '' } : callArguments(called?.['arguments']);
  return { ...toolCall(id, name, parameters), ...fixedIf(isSigned(call, message)) };
}

function withContent<Message extends ChatMessage>(message: Message, content: unknown): Message {
  return { ...message, content };
}

function rewriteMessage(message: ChatMessage, edits: PartEdits): ChatMessage {
  switch (message.role) {
    case 'assistant':
      return rewriteAssistant(message, edits);
    case 'tool':
    case 'function': {
      const edit = edits.get(0);
      if (edit?.type !== 'tool_response') return message;
      return withContent(message, rewriteOutput(message.content, String(edit.result), 'text'));
    }
    default:
      return withContent(message, editedContent(message.content, edits));
  }
}

function rewriteAssistant(message: AssistantMessage, edits: PartEdits): ChatMessage {
  const fields = partsOf({ ...message }, 'the message').map(({ field }) => field);
  const firstContent = fields.indexOf('content');
  const firstCall = fields.indexOf('tool_calls');
  const given = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const calls = given.flatMap((call, at) => {
    const edit = edits.get(firstCall + at);
    if (edit === null) return [];
    return edit?.type === 'tool_call' ? withArguments(call, edit.parameters) : call;
  });
  const isEdited = calls.length < given.length || calls.some((call, at) => call !== given[at]);
  const removed = new Set<string>(
    fields.filter((field, part) => isWhole(field) && edits.get(part) === null),
  );
  if (calls.length === 0) removed.add('tool_calls');
  const older = edits.get(fields.indexOf('function_call'));
  const kept = Object.entries(message).flatMap(([field, value]: [string, unknown]) => {
    if (removed.has(field)) return [];
    const isEditedCall = field === 'function_call' && older?.type === 'tool_call';
    if (!isEditedCall) return [[field, value]];
    return [[field, withArguments({ function: value }, older.parameters).function]];
  });
  const rewritten = {
    ...(Object.fromEntries(kept) as unknown as AssistantMessage),
    ...(calls.length > 0 && isEdited && { tool_calls: calls }),
  };
  // With calls, missing content is null. Without calls, it must be a string.
  const content =
    firstContent === -1
      ? message.content
      : editedContent(message.content, edits, withText, firstContent);
  const hasOlderCall = fields.includes('function_call') && older !== null;
  if (calls.length === 0 && !hasOlderCall) return withContent(rewritten, content ?? '');
  return firstContent === -1 ? rewritten : withContent(rewritten, content ?? null);
}

/** Whether a call has Gemini's signature: in the call, as Gemini's own server with this API returns it, or in OpenRouter's reasoning. */
function isSigned(value: unknown, { reasoning_details: details }: JsonRecord): boolean {
  const call = asRecord(value);
  const google = asRecord(asRecord(call?.['extra_content'])?.['google']);
  if (asFilledText(google?.['thought_signature']) !== undefined) return true;
  const id = asFilledText(call?.['id']);
  return id !== undefined && asArray(details).some((item) => asRecord(item)?.['id'] === id);
}

/** Replaces the arguments of a call: JSON text, an object for Ollama, or the text input of a custom tool. */
function withArguments<Call>(call: Call, parameters: unknown): Call {
  const fields = asRecord(call) ?? {};
  const [called, custom] = [asRecord(fields['function']), asRecord(fields['custom'])];
  if (called !== undefined) {
    const isText = typeof called['arguments'] === 'string';
    const text = isText ? JSON.stringify(parameters) : parameters;
    return { ...call, function: { ...called, arguments: text } };
  }
  return custom === undefined ? call : { ...call, custom: { ...custom, ...asRecord(parameters) } };
}

/** Whether a field as a whole is one part. */
function isWhole(field: AssistantField): boolean {
  return field !== 'content' && field !== 'tool_calls';
}
