// Checks the arguments of each call of an adapter. Messages are checked by the reader of their format.

import { types } from 'node:util';
import { OPTION_PLACES } from '../../main/option-places.js';
import { checkedReport } from '../../main/preflight/prompt-cache.js';
import { isTokenCount } from '../../main/tokens/token-ledger.js';
import type { UsageReport } from '../../main/preflight/context-gauge.js';
import { EDIT_CHECKS } from '../../main/preflight/edit-options.js';
import {
  assertFunction,
  assertString,
  assertTokens,
  hasFunctions,
  kindOf,
  readOptions,
} from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';
import { asRecord, isRecord } from '../../shared/json.js';
import type { CompactCall } from './adapter-options.js';

/**
 * Returns a copy of the list up to and including the first element that is not an object, which the reader of the format
 * will reject. A sparse list may claim billions of further elements.
 *
 * @param what names it in errors
 * @throws TypeError if it is not a list, or throws when it is read
 */
export function checkedMessages<Message>(
  given: readonly Message[] | null | undefined,
  what: string = 'an array of messages',
): readonly Message[] {
  return copied(what, given, (value) => (Array.isArray(value) ? copyOf(value) : undefined));
}

/** Returns the copy of a value. @throws TypeError if there is none, or the value throws when it is read */
function copied<Value>(
  what: string,
  given: Value | null | undefined,
  copy: (value: NonNullable<Value>) => Value | undefined,
): Value {
  let value: Value | undefined;
  try {
    value = given === null || given === undefined ? undefined : copy(given);
  } catch (cause) {
    throw new TypeError(`Expected ${what}, got what throws when it is read.`, { cause });
  }
  if (value !== undefined) return value;
  // A text may be a message, so nothing of it is quoted.
  throw new TypeError(
    `Expected ${what}, got ${typeof given === 'string' ? 'a string' : kindOf(given)}.`,
  );
}

function copyOf<Message>(given: readonly Message[]): readonly Message[] {
  // Preallocated, because this runs over the whole list in every call: a list that grows takes six times as long.
  const messages = new Array<Message>(given.length);
  for (let at = 0; at < messages.length; at += 1) {
    const message = given[at] as Message;
    messages[at] = message;
    if (typeof message !== 'object' || message === null) messages.length = at + 1;
  }
  return messages;
}

/**
 * Returns a shallow copy of an object of arguments.
 *
 * @param what names it in errors, such as `adapter options`
 * @throws TypeError if it is not an object, or throws when it is read
 */
export function checkedFields<Fields extends object>(given: Fields | null, what: string): Fields {
  return copied(`an object of ${what}`, given, (value) =>
    isRecord(value) && !types.isPromise(value) ? { ...value } : undefined,
  );
}

const CHECKS: Checks<CompactCall> = {
  signal: assertAnySignal,
  conversationId: assertString,
  modelName: assertString,
  overheadTokens: assertTokens,
  reportedInputTokens: assertTokens,
  reportedCacheReadTokens: assertTokens,
  reportedCacheMissReason: assertString,
  oddUsage: null,
  cacheTtlMs: EDIT_CHECKS.cacheTtlMs,
  answerUsage: assertFunction,
  keepsCacheBefore: assertFunction,
  compactByProvider: assertFunction,
  reasoning: EDIT_CHECKS.reasoning,
  refusal: null,
};

/**
 * Returns a checked copy of call arguments, each read once; `null` counts as absent.
 *
 * @throws TypeError or RangeError naming the invalid or unknown argument
 */
export function checkedCall(given: unknown): CompactCall {
  if (given === undefined || given === null) return {};
  const fields = checkedFields<{ [Key in keyof CompactCall]: unknown }>(
    given,
    'what is known about a call',
  );
  const present = Object.entries(fields).filter(([, value]) => value !== null);
  const unchecked: CompactCall = Object.fromEntries(present);
  const call = readOptions('arguments of a call', unchecked, CHECKS, OPTION_PLACES);
  const report = usageReportOf(call);
  if (report !== undefined) checkedReport(report);
  return call;
}

type Usage = Pick<
  CompactCall,
  'reportedInputTokens' | 'reportedCacheReadTokens' | 'reportedCacheMissReason' | 'oddUsage'
>;

/**
 * Converts the input usage that a provider reported to arguments of a call. Implausible numbers go to `oddUsage`. Cache
 * reads of 0 are left out if nothing was written either, because such a request did not use a cache.
 *
 * @param input all input tokens
 */
export function reportedUsage(input: unknown, read: unknown, written: unknown): Usage {
  const reportedInputTokens = isTokenCount(input) ? input : undefined;
  const cacheRead = isTokenCount(read) ? read : undefined;
  const isOdd =
    [input, read, written].some((value) => typeof value === 'number' && !isTokenCount(value)) ||
    (cacheRead ?? 0) > (reportedInputTokens ?? Infinity);
  // If one number is wrong, the others may be, too.
  if (isOdd) return { oddUsage: { inputTokens: input, cacheReadTokens: read } };
  const isKnown =
    reportedInputTokens !== undefined &&
    cacheRead !== undefined &&
    !(cacheRead === 0 && written === 0);
  return { reportedInputTokens, ...(isKnown && { reportedCacheReadTokens: cacheRead }) };
}

/** Like `reportedUsage`, for a report of uncached, read and written tokens; `{}` if there is no count yet. */
export function reportedSum(fresh: unknown, read: unknown, written: unknown): Usage {
  const parts = [fresh, read ?? 0, written ?? 0];
  const sum = parts.reduce<number>((so, part) => so + (typeof part === 'number' ? part : NaN), 0);
  if (fresh === undefined || fresh === null || sum === 0) return {};
  return reportedUsage(parts.every(isTokenCount) ? sum : NaN, read, written);
}

/** Returns the usage report in a call's arguments, if there is one. Its model is that of the previous call, not this one's. */
export function usageReportOf(call: CompactCall): UsageReport | undefined {
  const { reportedInputTokens: inputTokens } = call;
  if (inputTokens === undefined) return undefined;
  const { reportedCacheReadTokens: cacheReadTokens, reportedCacheMissReason: reason } = call;
  return { inputTokens, cacheReadTokens, cacheMissReason: reason };
}

/** Accepts any implementation of `AbortSignal`. @throws TypeError for anything else */
function assertAnySignal(name: string, value: unknown): void {
  const isSignal = typeof asRecord(value)?.['aborted'] === 'boolean';
  if (isSignal && hasFunctions(value, SIGNAL_METHODS)) return;
  throw new TypeError(`Expected ${name} to be an AbortSignal, got ${kindOf(value)}.`);
}

const SIGNAL_METHODS = ['addEventListener', 'removeEventListener', 'throwIfAborted'];
