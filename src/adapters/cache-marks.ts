// Marks that say how far a provider is to cache a prompt. Agents move them to the end with each call, so a
// message that has one today has none tomorrow, and is the same message all the same.

import { isSameValue } from './same-value.js';

/** As Anthropic's API, the AI SDK, Bedrock, OpenAI's Responses and its Agents SDK call them. */
const MARKS: ReadonlySet<string> = new Set([
  'cache_control',
  'cacheControl',
  'cachePoint',
  'prompt_cache_breakpoint',
  'promptCacheBreakpoint',
]);

/** Objects that hold nothing but marks stand at most this deep, as options of a provider do. */
const MAX_DEPTH = 2;

/** Whether two messages say the same, whatever marks of a cache are on them or on their parts. */
export function isSameButForCacheMarks(a: unknown, b: unknown): boolean {
  return isSameValue(a, b, (key, value) => isCacheMark(key, value));
}

/** Whether a member is such a mark, or holds nothing else. */
export function isCacheMark(key: string, value: unknown, depth: number = 0): boolean {
  if (MARKS.has(key)) return true;
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return false;
  let holdsNothingElse = false;
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    holdsNothingElse = isCacheMark(name, member, depth + 1);
    if (!holdsNothingElse) return false;
  }
  return holdsNothingElse;
}
