// The cache mark in front of an edit, in prompts of the AI SDK for Anthropic.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { withMarkBefore } from '../format/mark-before.js';
import type { MarkFormat } from '../format/mark-before.js';
import type { SdkMessage } from './sdk-message.js';

/**
 * Returns the prompt with a cache mark in front of an edit, or the same list; see `withMarkBefore`.
 *
 * @param besides the other parameters of the call that may have marks
 * @param index of the first message that the edit has changed
 */
export function withCacheMarkBefore(
  besides: { readonly providerOptions: unknown; readonly tools: unknown },
  messages: readonly SdkMessage[],
  index: number,
): readonly SdkMessage[] {
  // Reads nothing of a call that has no edit.
  if (index === 0) return messages;
  const [automatic] = marksOf(besides);
  return withMarkBefore(MARKS, { messages, automatic, besides }, index);
}

/**
 * Returns a call whose prompt the SDK has made from `messages`, with a cache mark in front of an edit of these; or the same call.
 *
 * @param index of the first message that the edit has changed
 */
export function markedCall(call: object, messages: readonly SdkMessage[], index: number): object {
  // Reads nothing of a call that has no edit.
  if (index === 0 || !isRecord(call)) return call;
  const { prompt, providerOptions, tools } = call;
  const given = asArray(prompt) as readonly SdkMessage[];
  const place = placeInPrompt(given, messages, index);
  const marked = withCacheMarkBefore({ providerOptions, tools }, given, place);
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

const MARKS: MarkFormat = {
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
  canHaveMark,
  withMark: (part, mark) => {
    const options = asRecord(part['providerOptions']);
    const anthropic = { ...asRecord(options?.['anthropic']), cacheControl: mark };
    return { ...part, providerOptions: { ...options, anthropic } };
  },
};

function marksOf(holder: JsonRecord | undefined): readonly JsonRecord[] {
  const options = asRecord(asRecord(holder?.['providerOptions'])?.['anthropic']);
  const mark = asRecord(options?.['cacheControl'] ?? options?.['cache_control']);
  return mark === undefined ? [] : [mark];
}

function canHaveMark(part: JsonRecord, { role, providerOptions }: JsonRecord): boolean {
  // The content would become a list with the mark of the message in it.
  if (marksOf({ providerOptions }).length > 0) return false;
  const { type, text, providerExecuted } = part;
  // A text of the provider's own kind, such as its compaction.
  const { type: kind } = asRecord(asRecord(part['providerOptions'])?.['anthropic']) ?? {};
  if (kind !== undefined) return false;
  switch (type) {
    case 'text':
      return role !== 'system' && (asText(text) ?? '').trim() !== '';
    case 'tool-call':
      return role === 'assistant' && providerExecuted !== true;
    case 'tool-result':
      return role === 'tool';
    default:
      return false;
  }
}
