// The fields of messages that compaction uses, and which calls a message makes and answers. They are the same in AI SDK 6 and 7,
// in a `ModelMessage` and in a message of a model's prompt, so no types of the SDK are needed.

import { asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { programsIn } from '../format/pinned-calls.js';
import type { CallsInMessage } from '../format/pinned-calls.js';

/** A message of the AI SDK: a `ModelMessage`, or one of a language model's prompt. */
export interface SdkMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly SdkPart[];
}

/** A part of a message. Not an interface, because interfaces are not assignable to `JsonRecord`. */
export type SdkPart = Readonly<{ type: string }>;

/** Returns the parts of a message; string content becomes one text part. */
export function partsOf({ content }: SdkMessage): readonly SdkPart[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}

export function textPart(text: string): SdkPart & { readonly text: string } {
  return { type: 'text', text };
}

/**
 * Returns a string field.
 *
 * @param where the place of the object, for errors
 * @throws TypeError if the field is not a string
 */
export function textIn(fields: JsonRecord, key: string, where: string): string {
  const value = fields[key];
  if (typeof value === 'string') return value;
  throw new TypeError(`Expected a string at ${where}.${key}, got ${typeof value}.`);
}

/** Ids of calls by the id of their approval, because approval responses contain only the approval id. */
export type ApprovedCalls = Map<unknown, string>;

interface PartFields {
  readonly type: string;
  readonly toolCallId?: unknown;
  readonly approvalId?: unknown;
  readonly providerExecuted?: unknown;
  readonly input?: unknown;
  readonly providerOptions?: unknown;
}

/** Reads only calls, results and approvals. Adds requests for approval to `approved`. */
export function callsIn(parts: readonly SdkPart[], approved: ApprovedCalls): CallsInMessage {
  const fields: readonly PartFields[] = parts.filter(isRecord);
  for (const { type, approvalId, toolCallId } of fields) {
    const isRequest = type === 'tool-approval-request' && typeof toolCallId === 'string';
    if (isRequest) approved.set(approvalId, toolCallId);
  }
  const calls = fields.filter(({ type }) => type === 'tool-call');
  const others = fields.filter(({ type }) => type !== 'tool-call');
  const isServers = ({ providerExecuted }: PartFields): boolean => providerExecuted === true;
  return {
    calls: idsOf(calls.filter((call) => !isServers(call))),
    serverCalls: idsOf(calls.filter(isServers)),
    answered: idsOf(others.filter(({ type }) => type === 'tool-result')),
    related: others.map(({ approvalId, toolCallId = approved.get(approvalId) }) => toolCallId),
    programs: calls.flatMap(programsOf),
    staysPinned: calls.some(isSearch),
  };
}

function idsOf(parts: readonly PartFields[]): readonly unknown[] {
  return parts.map(({ toolCallId }) => toolCallId);
}

/** Whether a call searches for tools, so that its result is the tools found. */
function isSearch({ input }: PartFields): boolean {
  const { arguments: sought, call_id: id } = asRecord(input) ?? {};
  return sought !== undefined && typeof id === 'string';
}

/** Applies `programsIn` to the call's options of every provider. */
function programsOf({ providerOptions }: PartFields): readonly unknown[] {
  return Object.values(asRecord(providerOptions) ?? {}).flatMap((options) =>
    programsIn(asRecord(options)?.['caller']),
  );
}
