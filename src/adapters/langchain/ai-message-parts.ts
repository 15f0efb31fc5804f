// Numbers the parts of an AI message: the blocks of its content, then its calls, then its invalid calls. A call that is also in the
// content is one part. Also reads which calls the message makes and answers.

import { asArray, asFilledText, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { programsIn } from '../format/pinned-calls.js';
import type { CallsInMessage } from '../format/pinned-calls.js';
import type { MessageFields } from './message-fields.js';

/** The parts of a message of the model. */
export interface AiMessageParts {
  /** The content as a list: a string is one part, empty content has none. */
  readonly content: readonly unknown[];
  readonly calls: readonly unknown[];
  readonly invalidCalls: readonly unknown[];
  /** Index of a content block → the number of its part. */
  readonly partOfContent: readonly number[];
  /** Part number of the first call. */
  readonly firstCall: number;
  /** Part number of the first invalid call. */
  readonly firstInvalidCall: number;
}

const CALL_TYPES: ReadonlySet<unknown> = new Set(['tool_use', 'tool_call', 'function_call']);

export function aiMessageParts(message: MessageFields): AiMessageParts {
  const content = contentList(message.content);
  const calls = asArray(message.tool_calls);
  const invalidCalls = asArray(message.invalid_tool_calls);
  const firstCall = content.length;
  const firstInvalidCall = firstCall + calls.length;
  const free: unknown[] = [...calls, ...invalidCalls];
  const partOfContent = content.map((block, at) => {
    if (!isCallBlock(block)) return at;
    const listed = free.findIndex((call) => isRecord(call) && isSameCall(block, call));
    if (listed === -1) return at;
    free[listed] = undefined;
    return firstCall + listed;
  });
  content.forEach((block, at) => {
    const owner = ownerOfArguments(block, content);
    if (owner !== -1) partOfContent[at] = partOfContent[owner] ?? owner;
  });
  return { content, calls, invalidCalls, partOfContent, firstCall, firstInvalidCall };
}

/** Returns content as a list of blocks. */
export function contentList(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content as readonly unknown[];
  return content === '' || content === undefined || content === null ? [] : [content];
}

/** Whether a content block is a call that the application answers. */
export function isCallBlock(block: unknown): block is JsonRecord {
  return isRecord(block) && CALL_TYPES.has(block['type']);
}

/** Returns the id of a call, in whichever place of a message it is listed. */
export function callIdOf(call: JsonRecord): string | undefined {
  return asText(call['call_id']) ?? asText(call['id']);
}

function isSameCall(block: JsonRecord, call: JsonRecord): boolean {
  const id = callIdOf(block);
  return id === callIdOf(call) && (id !== undefined || block['name'] === call['name']);
}

/**
 * Returns the index of the call that a block has the arguments of, or -1: Anthropic's streams have the arguments in later blocks with
 * the same `index`.
 */
function ownerOfArguments(block: unknown, content: readonly unknown[]): number {
  if (!isRecord(block) || block['type'] !== 'input_json_delta') return -1;
  return content.findIndex((other) => isCallBlock(other) && other['index'] === block['index']);
}

/** Field in which one integration keeps Gemini's signatures, by the id of the call. */
const SIGNATURES_BY_ID = '__gemini_function_call_thought_signatures__';

/** Returns the fields of `additional_kwargs` in which integrations keep Gemini's signatures. */
export function signaturesIn({
  signatures,
  [SIGNATURES_BY_ID]: byId,
}: JsonRecord): Readonly<Record<string, unknown>> {
  return { signatures, [SIGNATURES_BY_ID]: byId };
}

/** Returns for each listed call whether it has Gemini's signature, in any of the four places where integrations keep signatures. */
export function signedCalls(message: MessageFields): readonly boolean[] {
  const calls = asArray(message.tool_calls);
  const extra = asRecord(message.additional_kwargs) ?? {};
  const byId = asRecord(extra[SIGNATURES_BY_ID]) ?? {};
  const inOrder = asArray(extra['signatures']).slice(-calls.length);
  const blocks = contentList(message.content).filter(isCallBlock);
  return calls.map((listed, at) => {
    const call = asRecord(listed) ?? {};
    const places = [
      call['thoughtSignature'],
      byId[String(call['id'])],
      inOrder[at],
      blocks.find((block) => isSameCall(block, call))?.['thoughtSignature'],
    ];
    return places.some((signature) => asFilledText(signature) !== undefined);
  });
}

/**
 * Returns the signatures of a message after calls are removed. A message has one signature for each part, those of calls last.
 *
 * @param calls the calls before the removal
 */
export function remainingSignatures(
  signatures: readonly unknown[],
  calls: readonly unknown[],
  isRemoved: (call: unknown) => boolean,
): readonly unknown[] {
  const first = signatures.length - calls.length;
  return signatures.filter((_, at) => at < first || !isRemoved(calls[at - first]));
}

export function callsIn({ content, tool_calls: listed, ...extra }: MessageFields): CallsInMessage {
  const blocks = contentList(content).filter(isRecord);
  const calls = asArray(listed).filter(isRecord);
  return {
    calls: calls.map(({ id }) => id),
    serverCalls: blocks.filter(isServerCall).map(({ id }) => id),
    answered: blocks.map(({ tool_use_id: id }) => id),
    usesComputer: usesComputer(calls, extra),
    programs: blocks.filter(isCallBlock).flatMap(({ caller }) => programsIn(caller)),
    staysPinned: false,
  };
}

function isServerCall({ type, id }: JsonRecord): boolean {
  if (typeof type !== 'string' || typeof id !== 'string' || type === 'tool_use') return false;
  return type.endsWith('tool_use');
}

/** Whether a message uses OpenAI's computer tool. A streamed call of it shows only in the provider's own item. */
function usesComputer(calls: readonly JsonRecord[], fields: MessageFields): boolean {
  const { additional_kwargs: extra, response_metadata: metadata } = fields;
  const outputs = [asRecord(extra)?.['tool_outputs'], asRecord(metadata)?.['output']];
  return (
    calls.some(({ isComputerTool }) => isComputerTool === true) ||
    outputs.flatMap(asArray).some((item) => asRecord(item)?.['type'] === 'computer_call')
  );
}
