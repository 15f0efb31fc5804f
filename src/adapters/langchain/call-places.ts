// Finds the places of a message in which a call stands. A message states a call several times, in the forms of whichever integration
// made it, and integrations differ in which place they send. So an edit of a call changes all of them, or none.

import { DEFAULT_INGESTION_LIMITS } from '../../shared/ingestion-limits.js';
import { asArray, asFilledText, asRecord, isRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { pushTo } from '../../shared/lists-by-key.js';
import { isSameValue } from '../format/same-value.js';
import { contentList } from './message-fields.js';
import type { MessageFields } from './message-fields.js';

/** A list of a message. */
export interface CallList {
  readonly field: keyof MessageFields;
  /** The list's key in the field. @default the field is the list itself */
  readonly key?: string;
  readonly items: readonly unknown[];
  /** By item, the number of the call that it belongs to: among the message's calls, followed by its invalid calls. -1 if to none. */
  readonly owners: readonly number[];
}

/** A field of an item, or of a record in it, in which it may have the arguments of a call. */
type ArgumentsField = readonly [key: string, inner?: string | undefined];

const ARGUMENTS: readonly ArgumentsField[] = [
  ['args'],
  ['input'],
  ['arguments'],
  ['function', 'arguments'],
  ['functionCall', 'args'],
];

/** Returns every list in which integrations keep calls, or data of calls: in the message, and in the provider's own data. */
export function callLists(message: MessageFields): readonly CallList[] {
  const calls = asArray(message.tool_calls);
  const invalidCalls = asArray(message.invalid_tool_calls);
  // Not spread: the list of a caller may have an iterator that never ends.
  const all = calls.concat(invalidCalls);
  const content = contentList(message.content);
  const chunks = listOf(message.tool_call_chunks);
  return [
    { field: 'content', items: content, owners: ownersOf(content, all) },
    { field: 'tool_calls', items: calls, owners: calls.map((_, at) => at) },
    {
      field: 'invalid_tool_calls',
      items: invalidCalls,
      owners: invalidCalls.map((_, at) => calls.length + at),
    },
    { field: 'tool_call_chunks', items: chunks, owners: ownersOf(chunks, all) },
    ...listsIn(message, 'additional_kwargs', all),
    ...listsIn(message, 'response_metadata', all),
  ];
}

function listsIn(
  message: MessageFields,
  field: 'additional_kwargs' | 'response_metadata',
  calls: readonly unknown[],
): readonly CallList[] {
  return Object.entries(asRecord(message[field]) ?? {}).flatMap(([key, value]) => {
    const items = listOf(value);
    if (items.length === 0) return [];
    // Gemini's signatures: one for each part, those of calls last.
    const first = items.length - asArray(message.tool_calls).length;
    const owners =
      key === 'signatures'
        ? items.map((_, at) => Math.max(at - first, -1))
        : ownersOf(items, calls);
    return [{ field, key, items, owners }];
  });
}

/** Returns a list; an empty one for other values, and for a sparse array that claims billions of items. */
function listOf(value: unknown): readonly unknown[] {
  const items = asArray(value);
  return items.length > DEFAULT_INGESTION_LIMITS.maxValues ? [] : items;
}

/**
 * Returns for each item the number of its call, or -1. An item has the id of its call. If items or calls lack ids, those with the same
 * name are in the same order. Streams may have further arguments in later items with the same `index`.
 */
export function ownersOf(items: readonly unknown[], calls: readonly unknown[]): readonly number[] {
  const numbers = numbersOf(calls);
  const seen = new Map<string, number>();
  const byIndex = new Map<unknown, number>();
  return items.map((item) => {
    if (!isRecord(item)) return -1;
    const keys = idsIn(item).map((id) => `id ${id}`);
    if (keys.length === 0 && hasArguments(item)) keys.push(`name ${nameIn(item) ?? ''}`);
    const key = keys.find((one) => numbers.has(one));
    const { index } = item;
    if (key === undefined) {
      const isContinuation = keys.includes('name ') && index !== undefined;
      return isContinuation ? (byIndex.get(index) ?? -1) : -1;
    }
    const candidates = numbers.get(key) ?? [];
    const before = seen.get(key) ?? 0;
    seen.set(key, before + 1);
    const owner = candidates[Math.min(before, candidates.length - 1)] ?? -1;
    byIndex.set(index, owner);
    return owner;
  });
}

/** Returns the numbers of calls by id and by name; by name, calls without an id are first. */
function numbersOf(calls: readonly unknown[]): ReadonlyMap<string, readonly number[]> {
  const numbers = new Map<string, number[]>();
  const withIds: (readonly [name: string, number: number])[] = [];
  calls.forEach((listed, number) => {
    const call = asRecord(listed) ?? {};
    const id = asFilledText(call['id']);
    const name = asFilledText(call['name']);
    if (id !== undefined) pushTo(numbers, `id ${id}`, number);
    if (name === undefined) return;
    if (id === undefined) pushTo(numbers, `name ${name}`, number);
    else withIds.push([name, number]);
  });
  for (const [name, number] of withIds) pushTo(numbers, `name ${name}`, number);
  return numbers;
}

/** Returns the ids that may be a call's. Items of OpenAI have one of their own, too; LangChain 1.0 wraps items that it has no type for. */
function idsIn(item: JsonRecord): readonly string[] {
  const { functionCall, value } = item;
  const records = [item, asRecord(functionCall) ?? {}, asRecord(value) ?? {}];
  return records.flatMap(({ call_id: callId, id }) =>
    [callId, id].flatMap((text) => asFilledText(text) ?? []),
  );
}

function nameIn(item: JsonRecord): string | undefined {
  const { name, function: called, functionCall } = item;
  const inner = asRecord(called) ?? asRecord(functionCall);
  return asFilledText(name) ?? asFilledText(inner?.['name']);
}

function hasArguments(item: JsonRecord): boolean {
  return ARGUMENTS.some((place) => argumentsAt(item, place) !== undefined);
}

function argumentsAt(item: JsonRecord, [key, inner]: ArgumentsField): unknown {
  return inner === undefined ? item[key] : asRecord(item[key])?.[inner];
}

/** What decides how a call may be edited. */
export interface CallFacts {
  /** Whether Gemini has signed it. */
  readonly isSigned: boolean;
  /** Whether its arguments cannot be changed: it is signed, or has a place that does not state the same arguments in a known form. */
  readonly isFixed: boolean;
}

/** Field in which one integration keeps Gemini's signatures, by the id of the call. */
const SIGNATURES_BY_ID = '__gemini_function_call_thought_signatures__';

/** Returns the facts of each call, without invalid calls. */
export function callFacts(message: MessageFields): readonly CallFacts[] {
  const calls = asArray(message.tool_calls).map((call) => asRecord(call) ?? {});
  const extra = asRecord(message.additional_kwargs);
  const byId = asRecord(extra?.[SIGNATURES_BY_ID]) ?? {};
  const signed = calls.map(({ id }) => asFilledText(byId[String(id)]) !== undefined);
  const stated = calls.map(() => true);
  for (const { items, owners } of callLists(message)) {
    items.forEach((item, at) => {
      const call = owners[at] ?? -1;
      if (calls[call] === undefined || item === '') return;
      signed[call] ||= isSigned(item);
      stated[call] &&= isRecord(item) && hasSameArguments(item, calls[call]['args']);
    });
  }
  return calls.map((_, at) => ({
    isSigned: signed[at] === true,
    isFixed: signed[at] === true || stated[at] === false,
  }));
}

/** Whether an item has a signature of Gemini's, or is one. */
function isSigned(item: unknown): boolean {
  return asFilledText(asRecord(item)?.['thoughtSignature'] ?? item) !== undefined;
}

function hasSameArguments(item: JsonRecord, args: unknown): boolean {
  const values = ARGUMENTS.map((place) => argumentsAt(item, place));
  return (
    values.some((value) => value !== undefined) &&
    values.every((value) => value === undefined || writerOf(value, args) !== undefined)
  );
}

/** Returns an item of a call with other arguments, in the form that it has. */
export function withArguments(item: unknown, args: unknown, parameters: unknown): unknown {
  if (!isRecord(item)) return item;
  const changes = ARGUMENTS.flatMap(([key, inner]) => {
    const value = argumentsAt(item, [key, inner]);
    const write = value === undefined ? undefined : writerOf(value, args);
    if (write === undefined) return [];
    const written = write(parameters);
    return [[key, inner === undefined ? written : { ...asRecord(item[key]), [inner]: written }]];
  });
  return { ...item, ...(Object.fromEntries(changes) as JsonRecord) };
}

/**
 * Returns how a place writes arguments if it has the given ones: as an object, as JSON, or as the text that is the only input of a
 * custom tool.
 */
function writerOf(value: unknown, args: unknown): ((parameters: unknown) => unknown) | undefined {
  if (typeof value !== 'string') {
    return isSameValue(value, args) ? (parameters) => parameters : undefined;
  }
  if (isSameValue({ input: value }, args)) return (parameters) => asRecord(parameters)?.['input'];
  return isSameValue(tryParseJson(value), args) ? JSON.stringify : undefined;
}
