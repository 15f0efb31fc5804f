// The cache mark in front of an edit, in prompts of the AI SDK for Claude: of Anthropic's API, or of Bedrock's own.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { withMarkBefore } from '../format/mark-before.js';
import type { MarkFormat } from '../format/mark-before.js';
import type { ModelReference } from './anthropic-model.js';
import type { SdkMessage } from './sdk-message.js';

/**
 * Returns the prompt with a cache mark in front of an edit, or the same list; see `withMarkBefore`.
 *
 * @param besides the other parameters of the call that may have marks
 * @param index of the first message that the edit has changed
 */
export function withCacheMarkBefore(
  model: ModelReference | undefined,
  besides: { readonly providerOptions: unknown; readonly tools: unknown },
  messages: readonly SdkMessage[],
  index: number,
): readonly SdkMessage[] {
  // Reads nothing of a call that has no edit.
  if (index === 0) return messages;
  const format = takesCachePoints(model) ? CACHE_POINTS : CACHE_CONTROL;
  const [automatic] = format.marksOf(besides);
  return withMarkBefore(format, { messages, automatic, besides }, index);
}

/** Whether a model is Claude at Bedrock's own API. Of other models there, it is not known whether they look back from a mark. */
function takesCachePoints(model: ModelReference | undefined): boolean {
  const { provider, modelId } = asRecord(model) ?? {};
  return provider === 'amazon-bedrock' && asText(modelId)?.includes('anthropic.') === true;
}

/**
 * Returns a call whose prompt the SDK has made from `messages`, with a cache mark in front of an edit of these; or the same call.
 *
 * @param index of the first message that the edit has changed
 */
export function markedCall(
  model: ModelReference | undefined,
  call: object,
  messages: readonly SdkMessage[],
  index: number,
): object {
  // Reads nothing of a call that has no edit.
  if (index === 0 || !isRecord(call)) return call;
  const { prompt, providerOptions, tools } = call;
  const given = asArray(prompt) as readonly SdkMessage[];
  const place = placeInPrompt(given, messages, index);
  const marked = withCacheMarkBefore(model, { providerOptions, tools }, given, place);
  return marked === given ? call : { ...call, prompt: marked };
}

/**
 * Returns the index of a message in the prompt that the SDK has made from a list, 0 if it cannot be told. The SDK puts system text in
 * front, and joins consecutive messages with results of tools.
 */
function placeInPrompt(
  prompt: readonly SdkMessage[],
  messages: readonly SdkMessage[],
  index: number,
): number {
  const lengthOf = (list: readonly SdkMessage[]): number =>
    list.filter(({ role }, at) => role !== 'tool' || list[at - 1]?.role !== 'tool').length;
  const system = prompt.length - lengthOf(messages);
  const isMadeFrom =
    system >= 0 && prompt.slice(0, system).every((each) => asRecord(each)?.['role'] === 'system');
  return isMadeFrom ? system + lengthOf(messages.slice(0, index + 1)) - 1 : 0;
}

const CACHE_CONTROL = markFormat(['anthropic'], ['cacheControl', 'cache_control']);
const CACHE_POINTS = markFormat(['bedrock', 'amazonBedrock'], ['cachePoint']);

/** The format of marks in the options of these providers under these names; the first ones are written. */
function markFormat(
  providers: readonly [string, ...string[]],
  names: readonly [string, ...string[]],
): MarkFormat {
  const [provider] = providers;
  const [name] = names;
  const marksOf = (holder: JsonRecord | undefined): readonly JsonRecord[] => {
    const all = asRecord(holder?.['providerOptions']);
    const found = providers.flatMap((each) => names.map((mark) => asRecord(all?.[each])?.[mark]));
    return found.filter(isRecord).slice(0, 1);
  };
  return {
    blocksOf: ({ content, providerOptions }) => {
      const ofMessage = { type: 'message', providerOptions };
      // A mark of a message is on its last part.
      return [...asArray(content), ...(marksOf(ofMessage).length > 0 ? [ofMessage] : [])];
    },
    marksOf: (part) => [
      ...asArray(asRecord(part['output'])?.['value']).flatMap((each) => marksOf(asRecord(each))),
      ...marksOf(asRecord(part['output'])),
      ...marksOf(part),
    ],
    // With a mark of the message, the content would become a list with that mark in it.
    canHaveMark: (part, message) => marksOf(message).length === 0 && canHaveMark(part, message),
    withMark: (part, mark) => {
      const options = asRecord(part['providerOptions']);
      const marked = { ...asRecord(options?.[provider]), [name]: mark };
      return { ...part, providerOptions: { ...options, [provider]: marked } };
    },
  };
}

function canHaveMark(part: JsonRecord, { role }: JsonRecord): boolean {
  const { type, text, providerExecuted } = part;
  // A text of the provider's own kind, such as its compaction.
  const { type: kind } = asRecord(asRecord(part['providerOptions'])?.['anthropic']) ?? {};
  if (kind !== undefined) return false;
  switch (type) {
    case 'text':
      return (asText(text) ?? '').trim() !== '';
    case 'tool-call':
      return role === 'assistant' && providerExecuted !== true;
    case 'tool-result':
      return role === 'tool';
    default:
      return false;
  }
}
