// Brings the results of a step into the form that they have in the next request, if the user approved or denied some of its calls. Within
// a run the SDK has the results of these calls in a message of their own, in an order that differs between its versions, and denials as
// such. Once UI messages are converted for the next request, all results are in one message, in the order of the calls, and denials are
// errors. UI messages also keep the empty texts that some providers begin an answer with; a run does not, and the SDK sends none. Without
// this module, the messages would then look like another conversation and miss the provider's cache.

import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { isArray } from '../../shared/misuse.js';
import { isSameList } from '../format/same-value.js';
import type { SdkMessage, SdkPart } from './sdk-message.js';

/** The SDK's text for a call that was denied without a reason. */
const DENIED = 'Tool call execution denied.';

type PartFields = SdkPart & JsonRecord;
type WithOptions = SdkMessage & { readonly providerOptions?: unknown };

/** Settled message → the given one, if only approvals have moved or empty texts have gone. */
const GIVEN = new WeakMap<SdkMessage, SdkMessage>();
/** Given message → its settled one of the last call: the same object is known, and another one would be compared by its content. */
const SETTLED = new WeakMap<SdkMessage, WithOptions>();

/**
 * Returns messages, or the prompt of a model, with the results of each step as the next request has them. A prompt does not tell which
 * calls were approved, so results are put in the order of the calls in any case. Returns the same list if none changes, or if it cannot be
 * read: its compaction fails and says why.
 */
export function withSettledResults(messages: readonly SdkMessage[]): readonly SdkMessage[] {
  try {
    if (!isArray(messages)) return messages;
    const settled: SdkMessage[] = [];
    let calling: SdkMessage | undefined;
    for (let at = 0; at < messages.length; at += 1) {
      const message = messages[at] as SdkMessage;
      if (message.role !== 'tool') {
        calling = message.role === 'assistant' ? withoutEmptyTexts(message) : message;
        settled.push(calling);
        continue;
      }
      const start = at;
      while (messages[at + 1]?.role === 'tool') at += 1;
      const results = at === start ? [message] : inOneMessage(messages.slice(start, at + 1));
      for (const each of results) settled.push(settle(each, calling));
    }
    return isSameList(settled, messages) ? messages : settled;
  } catch {
    return messages;
  }
}

/** Reverts `withSettledResults` for a message that is not edited, if no result has changed. */
export function asGiven(message: SdkMessage): SdkMessage {
  return GIVEN.get(message) ?? message;
}

/** Removes the texts that the SDK does not send, unless nothing else is left. */
function withoutEmptyTexts(message: SdkMessage): SdkMessage {
  const parts = partsIn(message);
  const kept = parts.filter((part) => !isEmptyText(part));
  if (kept.length === 0 || kept.length === parts.length) return message;
  const copy = withContent(message, kept);
  GIVEN.set(copy, message);
  return copy;
}

function withContent(message: WithOptions, content: readonly PartFields[]): SdkMessage {
  const former = SETTLED.get(message);
  const hasSameOptions = former?.providerOptions === message.providerOptions;
  if (former !== undefined && hasSameOptions && isSameList(partsIn(former), content)) return former;
  const copy: WithOptions = { ...message, content };
  SETTLED.set(message, copy);
  return copy;
}

/** Joins the messages with the results of a step if some of these are of calls for which approval was asked. */
function inOneMessage(results: readonly SdkMessage[]): readonly SdkMessage[] {
  if (!results.some((each) => partsIn(each).some(isApproval))) return results;
  return [Object.assign({}, ...results, { content: results.flatMap(partsIn) }) as SdkMessage];
}

function settle(message: SdkMessage, calling: SdkMessage | undefined): SdkMessage {
  const parts = partsIn(message);
  const settled = inCallOrder(parts.map(asError), calling === undefined ? [] : partsIn(calling));
  if (isSameList(settled, parts)) return message;
  const copy = withContent(message, settled);
  if (isSameList(settled.filter(isResult), parts.filter(isResult))) GIVEN.set(copy, message);
  return copy;
}

/** Sorts results and approvals by their calls. Returns the same list if one of the calls is not among those of the step. */
function inCallOrder(
  parts: readonly PartFields[],
  calling: readonly PartFields[],
): readonly PartFields[] {
  // Fast paths for nearly all messages.
  if (parts.length < 2) return parts;
  let inOrder = 0;
  for (const part of calling) {
    if (part.type === 'tool-call' && callIdOf(part) === parts[inOrder]?.['toolCallId'])
      inOrder += 1;
  }
  if (inOrder === parts.length) return parts;
  const calls = calling.filter(({ type }) => type === 'tool-call').map(callIdOf);
  const asked = new Map(calling.map((part) => [part['approvalId'], callIdOf(part)]));
  const places = parts.map((part) =>
    calls.indexOf(isApproval(part) ? asked.get(part['approvalId']) : callIdOf(part)),
  );
  if (places.includes(-1)) return parts;
  const placeOf = (at: number): number => places[at] ?? 0;
  const order = [...places.keys()].sort((one, other) => placeOf(one) - placeOf(other));
  return order.map((at) => parts[at] as PartFields);
}

/** Turns a denial into an error. One with provider options stays: its provider asked for the approval, and finds it by these options. */
function asError(result: PartFields): PartFields {
  const { type, reason = DENIED, providerOptions } = asRecord(result['output']) ?? {};
  return type === 'execution-denied' && providerOptions === undefined
    ? { ...result, output: { type: 'error-text', value: reason } }
    : result;
}

function isEmptyText({ type, text, providerOptions }: PartFields): boolean {
  return type === 'text' && text === '' && (providerOptions ?? undefined) === undefined;
}

function isApproval({ type }: SdkPart): boolean {
  return type === 'tool-approval-response';
}

function isResult(part: SdkPart): boolean {
  return !isApproval(part);
}

function callIdOf(part: PartFields): unknown {
  return part['toolCallId'];
}

function partsIn({ content }: SdkMessage): readonly PartFields[] {
  return typeof content === 'string' ? [] : content;
}
