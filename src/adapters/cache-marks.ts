// Marks that say how far a provider is to cache a prompt. Agents move them to the end with each call, so a
// message that has one today has none tomorrow, and is the same message all the same.

import { isRecord } from '../shared/json.js';
import type { JsonRecord } from '../shared/json.js';
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

/** Options of a whole request that say how long a provider is to keep it. */
const OPTIONS: ReadonlySet<string> = new Set(['prompt_cache_options', 'promptCacheOptions']);
const RETENTIONS: ReadonlySet<string> = new Set(['prompt_cache_retention', 'promptCacheRetention']);

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000 };
/** What a mark is for that says nothing of time, and how long a prompt in memory is left alone at least. */
const SHORT_MS = 300_000;

/**
 * Returns how long a request asks its provider to keep it, in milliseconds, by the marks and options that one of its objects holds, or
 * one within them that is named after a provider: the longest, or `undefined` where none says it.
 */
export function cacheTtlIn(holder: unknown, depth: number = 0): number | undefined {
  if (typeof holder !== 'object' || holder === null) return undefined;
  let longest: number | undefined;
  for (const key of Object.keys(holder).filter((name) => NAMES.test(name))) {
    const value = (holder as Readonly<Record<string, unknown>>)[key];
    const isMark = MARKS.has(key);
    const { ttl } = (isMark || OPTIONS.has(key) ? (value ?? {}) : {}) as { readonly ttl?: unknown };
    // Where OpenAI's breakpoints say nothing, the options of the request do.
    const unsaid = isMark && value !== null && !/breakpoint/i.test(key) ? SHORT_MS : undefined;
    const found = RETENTIONS.has(key)
      ? (timeOf(value) ?? (value === 'in_memory' ? SHORT_MS : undefined))
      : depth < MAX_DEPTH && HOLDERS.test(key)
        ? cacheTtlIn(value, depth + 1)
        : (timeOf(ttl) ?? unsaid);
    longest = longerOf(longest, found);
  }
  return longest;
}

/** The longer of two times, of which either may not be known. */
function longerOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** What is looked at of an object: all else is left alone. */
const NAMES = /cache|^provider|^(?:anthropic|openai|bedrock|vertex|gateway)$/i;

/** Members that hold what is for a provider. */
const HOLDERS = /^(?:provider(?:Options|Metadata|Data)|anthropic|openai|bedrock|vertex|gateway)$/;

function timeOf(said: unknown): number | undefined {
  const [, count, unit = ''] = (typeof said === 'string' && /^(\d{1,4})([mh])$/.exec(said)) || [];
  return count === undefined ? undefined : Number(count) * (UNITS[unit] ?? NaN);
}

/** Providers take four marks a request, and look for them near its end. */
const MARKED_MESSAGES = 32;

/**
 * The same of the messages of a request: of the last ones, where the marks are that edits are ahead of.
 *
 * @param beside what the request says besides
 */
export function cacheTtlOfMessages(
  messages: readonly unknown[],
  beside: number | undefined,
): number | undefined {
  let longest = beside;
  for (let at = Math.max(0, messages.length - MARKED_MESSAGES); at < messages.length; at += 1) {
    const message = messages[at];
    if (isRecord(message)) longest = longerOf(longest, ttlOfMessage(message));
  }
  return longest;
}

/** By message: one that is sent again is not looked into. */
const TTLS = new WeakMap<object, number | 'unsaid'>();

function ttlOfMessage(message: JsonRecord): number | undefined {
  const known = TTLS.get(message);
  if (known !== undefined) return known === 'unsaid' ? undefined : known;
  const longest = readTtl(message);
  TTLS.set(message, longest ?? 'unsaid');
  return longest;
}

function readTtl(message: JsonRecord): number | undefined {
  try {
    const { content } = message;
    const parts: readonly unknown[] = Array.isArray(content) ? content : [];
    let longest = cacheTtlIn(message);
    // By index: an array that came from elsewhere need not have the methods of one.
    for (let at = Math.max(0, parts.length - MARKED_MESSAGES); at < parts.length; at += 1) {
      longest = longerOf(longest, cacheTtlIn(parts[at]));
    }
    return longest;
  } catch {
    // What cannot be read asks for nothing, and is carried or refused by who needs it.
    return undefined;
  }
}
