// Reads saved messages of the AI SDK: what a model is sent (`ModelMessage`), and chats (`UIMessage`), in which a call and its result are
// one part, and one message holds all steps of an answer.

import { thinkingBlock } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  parseArguments,
  textOfParts,
  tryParseJson,
  type JsonRecord,
} from '../../shared/json.js';
import { DEFAULT_TOOL_CATALOG } from '../../shared/tool-catalog.js';
import type { Format } from './format.js';
import type { HistoryAssembler, RecordedMetadata, RecordedResponse } from './history-assembler.js';
import { readContent } from './content-parts.js';
import { mediaBlock } from './media.js';
import { asTimestamp } from './timestamp.js';

const ROLES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'tool']);

/** Kinds of parts that only the page of a chat has, or that say nothing but whether a call may run. */
const NOT_READ = /^(?:source|data-|tool-approval-)/;
/** Begins a step of an answer: what follows was made after the results before it. */
const STEP_START = 'step-start';

/** Whether a message has a part that other formats do not have: a call or result with this id, or a typed part of a chat. */
function isOfAiSdk(message: unknown): boolean {
  const fields = asRecord(message) ?? {};
  const { role, content } = fields;
  const ofChat = asArray(partsOf(fields)).map(asRecord);
  return (
    ROLES.has(role) &&
    (ofChat.some((part) => typeof part?.['type'] === 'string') ||
      asArray(content).some((part) => typeof asRecord(part)?.['toolCallId'] === 'string'))
  );
}

/** The parts of a chat's message. A database that has no type for JSON, such as SQLite, keeps them as text. */
function partsOf({ parts }: JsonRecord): unknown {
  return typeof parts === 'string' ? tryParseJson(parts) : parts;
}

/** Saved messages of the AI SDK. */
export const AI_SDK: Format<'ai-sdk'> = {
  name: 'ai-sdk',
  toolCatalog: DEFAULT_TOOL_CATALOG,
  document: { detect: (_, messages) => messages.some(isOfAiSdk), lists: ['messages'] },
  open: (history) => ({
    read: (message) => {
      readMessage(message, history);
    },
  }),
};

function readMessage(message: JsonRecord, history: HistoryAssembler): void {
  const role = asText(message['role']) ?? '';
  if (!ROLES.has(role)) {
    history.tallyLeftOut('messages of the unknown role', role);
    return;
  }
  const metadata = {
    id: asText(message['id']),
    timestamp: asTimestamp(message['createdAt'] ?? asRecord(message['metadata'])?.['createdAt']),
  };
  for (const step of stepsOf(partsOf(message) ?? message['content'] ?? message['parts'])) {
    readStep(step, role, metadata, history);
  }
}

/** Divides content at the starts of steps. */
function stepsOf(content: unknown): readonly unknown[] {
  if (!Array.isArray(content)) return [content];
  const steps: unknown[][] = [[]];
  for (const part of asArray(content)) {
    if (asRecord(part)?.['type'] === STEP_START) steps.push([]);
    else steps.at(-1)?.push(part);
  }
  return steps;
}

function readStep(
  content: unknown,
  role: string,
  metadata: RecordedMetadata,
  history: HistoryAssembler,
): void {
  const parts = asArray(content)
    .map(partOf)
    .filter(({ type }) => !NOT_READ.test(asText(type) ?? ''));
  const isResult = ({ type }: JsonRecord): boolean => type === 'tool-result';
  const others = Array.isArray(content) ? parts.filter((part) => !isResult(part)) : content;
  const blocks = readContent(others, history, (part, type) => readPart(asRecord(part) ?? {}, type));
  if (role === 'assistant') history.addAi(blocks, metadata);
  for (const part of parts) {
    const response = isResult(part) || 'state' in part ? readResult(part) : undefined;
    if (response !== undefined) history.addResponse(response, metadata);
  }
  if (role === 'system' || role === 'user')
    history.addHuman(blocks, { ...metadata, ...(role === 'system' && { synthetic: true }) });
}

/** A part in the form of today's major: the SDK 4 had the call of a chat's part in a field. */
function partOf(part: unknown): JsonRecord {
  const fields = asRecord(part) ?? {};
  const { toolInvocation } = fields;
  return { ...fields, ...asRecord(toolInvocation) };
}

function readPart(part: JsonRecord, type: string): ContentBlock | undefined {
  const text = asText(part['text']);
  if (type === 'text') return text === undefined ? undefined : { type: 'text', text };
  if (type === 'reasoning') return text === undefined ? undefined : readReasoning(part, text);
  if (type === 'file' || type === 'image') {
    const given = part['data'] ?? part['image'] ?? part['url'];
    const isAddress = typeof given === 'string' && /^[a-z][a-z\d+.-]*:/i.test(given);
    const mediaType = asText(part['mediaType'] ?? part['mimeType']);
    const fallback = type === 'image' ? 'image/*' : 'application/octet-stream';
    return mediaBlock(mediaType ?? fallback, isAddress ? undefined : given, given);
  }
  if (typeof part['toolCallId'] !== 'string') return undefined;
  const name = asText(part['toolName']) ?? type.replace(/^tool-/, '');
  const parameters = parseArguments(part['input'] ?? part['args']);
  return { type: 'tool_call', id: part['toolCallId'], name, parameters };
}

function readReasoning(part: JsonRecord, thought: string): ContentBlock {
  const facts = asRecord(part['providerOptions'] ?? part['providerMetadata']) ?? {};
  return thinkingBlock(thought, {
    signature: asText(part['signature'] ?? asRecord(facts['anthropic'])?.['signature']),
    encryptedContent: asText(asRecord(facts['openai'])?.['reasoningEncryptedContent']),
  });
}

/** Returns the result in a part; `undefined` if a chat's part has none yet. */
function readResult(part: JsonRecord): RecordedResponse | undefined {
  const callId = asFilledText(part['toolCallId']);
  const { state, output, result = output, errorText, approval } = part;
  if (state === 'output-error' || state === 'output-denied') {
    const text = errorText ?? asRecord(approval)?.['reason'] ?? 'The call was denied.';
    return { callId, result: text, error: errorLine(text) };
  }
  // A call that has not ended; the results of the SDK 4 have the state `result`.
  if (state !== undefined && result === undefined) return undefined;
  const { type, value, reason } = asRecord(output) ?? {};
  if (state !== undefined || typeof type !== 'string')
    return { callId, result, ...(part['isError'] === true && { error: errorLine(result) }) };
  const told = type === 'execution-denied' ? (reason ?? 'The call was denied.') : value;
  const error = /^(?:error-|execution-denied$)/.test(type) ? errorLine(told) : undefined;
  return { callId, result: type === 'content' ? (textOfParts(told) ?? told) : told, error };
}
