// Cache marks: fields that state up to where a provider caches a prompt, and for how long. Agents move them to the end with each
// call, so messages are compared without them.

import { asArray, isPlainObject, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { isSameValue } from './same-value.js';

/** Names of cache marks in Anthropic's API, the AI SDK, Bedrock, OpenAI's Responses API and its Agents SDK. */
export const MARKS: ReadonlySet<string> = new Set([
  'cache_control',
  'cacheControl',
  'cachePoint',
  'prompt_cache_breakpoint',
  'promptCacheBreakpoint',
]);

/** Maximum depth at which marks are nested, for instance in provider options. */
const MAX_DEPTH = 2;

/**
 * Whether two messages are equal except for cache marks on them or on their parts. A mark needs a part, so an agent that else writes
 * texts as strings writes a marked text as a list of one part. Both forms are equal.
 */
export function isSameButForCacheMarks(a: unknown, b: unknown): boolean {
  if (isSameValue(a, b, isCacheMark)) return true;
  try {
    if (!isRecord(a) || !isRecord(b) || typeof a['content'] === typeof b['content']) return false;
    return isSameValue(inParts(a), inParts(b), isCacheMark);
  } catch {
    return false;
  }
}

/** Returns a text that is the same for messages that differ only in cache marks, provided that their keys have the same order. */
export function textWithoutCacheMarks(message: JsonRecord): string {
  return JSON.stringify(inParts(message), (key, value: unknown) =>
    isCacheMark(key, value) ? undefined : value,
  );
}

function inParts(message: JsonRecord): JsonRecord {
  const { content } = message;
  return typeof content === 'string'
    ? { ...message, content: [{ type: 'text', text: content }] }
    : message;
}

/** Whether a member is a cache mark, or an object that contains only cache marks. */
export function isCacheMark(key: string, value: unknown, depth: number = 0): boolean {
  if (MARKS.has(key)) return true;
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return false;
  let hasMark = false;
  for (const name in value) {
    const member = (value as Readonly<Record<string, unknown>>)[name];
    if (!isCacheMark(name, member, depth + 1)) return false;
    hasMark = true;
  }
  return hasMark;
}

/** Returns the cache marks of parts as the fields of one object. The last of several marks with one name wins. */
export function cacheMarksOf(parts: readonly unknown[]): JsonRecord {
  const fields = parts.flatMap((part) => (isRecord(part) ? Object.entries(part) : []));
  return Object.fromEntries(
    fields.filter(([key, value]) => value !== undefined && isCacheMark(key, value)),
  );
}

/** Returns the marks of a message and of its parts as a text, for comparison; empty if there are none. */
export function cacheMarksText(message: unknown): string {
  try {
    if (!isRecord(message)) return '';
    const marks = [message, ...asArray(message['content'])].map((holder) =>
      JSON.stringify(markMembers(holder)),
    );
    return marks.some((text) => text !== NO_MARKS) ? marks.join('\n') : '';
  } catch {
    // The reader of the format decides about messages that throw.
    return '';
  }
}

/** Returns a message without its marks and those of its parts; the same object if there are none, or if it is an instance of a class. */
export function withoutCacheMarks<Message>(message: Message): Message {
  if (!isRecord(message) || !isPlainObject(message) || cacheMarksText(message) === '')
    return message;
  const bare = withoutMarks(message) as JsonRecord;
  const { content } = bare;
  const parts = Array.isArray(content) && { content: content.map(withoutMarks) };
  return { ...bare, ...parts } as Message;
}

function withoutMarks(holder: unknown): unknown {
  if (!isRecord(holder) || !isPlainObject(holder)) return holder;
  const members = Object.entries(holder).flatMap(([key, value]) =>
    NAMES.test(key) && isCacheMark(key, value)
      ? []
      : [[key, HOLDERS.test(key) ? withoutMarks(value) : value]],
  );
  return Object.fromEntries(members) as unknown;
}

const NO_MARKS = '[]';

function markMembers(holder: unknown): readonly (readonly [string, unknown])[] {
  if (!isRecord(holder)) return [];
  return Object.entries(holder).filter(([key, value]) => NAMES.test(key) && value !== undefined);
}

/** Options of a request that state how long the provider caches it. */
const OPTIONS: ReadonlySet<string> = new Set(['prompt_cache_options', 'promptCacheOptions']);
const RETENTIONS: ReadonlySet<string> = new Set(['prompt_cache_retention', 'promptCacheRetention']);

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 };
/** Cache lifetime of a mark without a `ttl`, and the minimum for `in_memory` retention. */
const SHORT_MS = 300_000;

/**
 * Returns the longest cache lifetime, in milliseconds, that an object of a request asks for in its marks and options, or in nested
 * provider options; `undefined` if it asks for none.
 */
export function cacheTtlIn(holder: unknown, depth: number = 0): number | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined;
  let longest: number | undefined;
  for (const key of Object.keys(holder).filter((name) => NAMES.test(name))) {
    const value = (holder as Readonly<Record<string, unknown>>)[key];
    const isMark = MARKS.has(key);
    const { ttl } = (isMark || OPTIONS.has(key) ? (value ?? {}) : {}) as { readonly ttl?: unknown };
    // OpenAI's breakpoints imply no lifetime; the request's options state it.
    const implied = isMark && isRecord(value) && !/breakpoint/i.test(key) ? SHORT_MS : undefined;
    const found = RETENTIONS.has(key)
      ? (timeOf(value) ?? (value === 'in_memory' ? SHORT_MS : undefined))
      : depth < MAX_DEPTH && HOLDERS.test(key)
        ? cacheTtlIn(value, depth + 1)
        : (timeOf(ttl) ?? implied);
    longest = longerOf(longest, found);
  }
  return longest;
}

function longerOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** Members with provider options. AI SDK 7 has another name for those of Bedrock. */
const HOLDERS =
  /^(?:provider(?:Options|Metadata|Data)|anthropic|openai|azure|bedrock|amazonBedrock|vertex|openrouter|gateway)$/;

/** Matches all members that may hold marks or retention options. Other members are not read. */
const NAMES = new RegExp(`cache|^provider|${HOLDERS.source}`, 'i');

/** Returns the milliseconds of a time such as `5m` or `1h`; `undefined` for any other value. */
function timeOf(ttl: unknown): number | undefined {
  const [, count, unit = ''] = (typeof ttl === 'string' && /^(\d{1,4})([mh])$/.exec(ttl)) || [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? NaN);
}

/** Number of last messages searched for marks: providers accept four marks per request, and look for them near its end. */
export const MARKED_MESSAGES = 32;

/**
 * Returns the longest cache lifetime, in milliseconds, that a request asks for. Looks at its last messages only.
 *
 * @param ofRequest what the request asks for outside its messages
 */
export function cacheTtlOfMessages(
  messages: readonly unknown[],
  ofRequest: number | undefined,
): number | undefined {
  let longest = ofRequest;
  for (let at = Math.max(0, messages.length - MARKED_MESSAGES); at < messages.length; at += 1) {
    const message = messages[at];
    if (isRecord(message)) longest = longerOf(longest, readTtl(message));
  }
  return longest;
}

function readTtl(message: JsonRecord): number | undefined {
  try {
    const parts = asArray(message['content']);
    let longest = cacheTtlIn(message);
    // By index: the caller's array may have overridden methods.
    for (let at = Math.max(0, parts.length - MARKED_MESSAGES); at < parts.length; at += 1) {
      longest = longerOf(longest, cacheTtlIn(parts[at]));
    }
    return longest;
  } catch {
    // The reader of the format decides about messages that throw.
    return undefined;
  }
}
