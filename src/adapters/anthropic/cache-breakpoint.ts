// The cache mark in front of an edit, in requests to Anthropic's Messages API.

import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { withMarkBefore } from '../format/mark-before.js';
import type { MarkFormat } from '../format/mark-before.js';

/**
 * Returns the messages with a cache mark in front of an edit, or the same list; see `withMarkBefore`.
 *
 * @param fields the other fields of the request
 * @param index of the first message that the edit has changed
 */
export function withBreakpointBefore<Message extends object>(
  { messages: _, ...fields }: JsonRecord,
  messages: readonly Message[],
  index: number,
): readonly Message[] {
  const automatic = asRecord(fields['cache_control']);
  return withMarkBefore(MARKS, { messages, automatic, besides: fields }, index);
}

const MARKS: MarkFormat = {
  blocksOf: ({ content }) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : asArray(content),
  marksOf: breakpointsOf,
  canHaveMark: (block, { role }) => (role === 'user' || role === 'assistant') && isMarkable(block),
  withMark: (block, mark) => ({ ...block, cache_control: mark }),
};

/** Not those of what a tool was called with, which may have any fields. */
function breakpointsOf({ cache_control: mark, content, source }: JsonRecord): JsonRecord[] {
  const inner = [...asArray(content), ...asArray(asRecord(source)?.['content'])];
  const own = asRecord(mark);
  const nested = inner.flatMap((block) => breakpointsOf(asRecord(block) ?? {}));
  return own === undefined ? nested : [...nested, own];
}

/** The API refuses a mark on reasoning and on an empty text. */
function isMarkable({ type, text }: JsonRecord): boolean {
  switch (type) {
    case 'text':
      return (asText(text) ?? '').trim() !== '';
    case 'tool_use':
    case 'tool_result':
    case 'image':
    case 'document':
      return true;
    default:
      return false;
  }
}
