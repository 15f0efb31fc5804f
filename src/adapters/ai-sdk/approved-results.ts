// Restores the order in which the results of a step were first sent, if the user approved or denied some of its calls. Within a run the
// SDK puts the results of these calls last: AI SDK 6 puts the denied ones after the approved ones, AI SDK 7 before them. After UI messages
// are converted for the next request, results are in the order of the calls, and denials are errors. Without this module, the messages
// would then look like another conversation and miss the provider's cache.

import { asRecord } from '../../shared/json.js';
import { callsIn } from './sdk-message.js';
import type { ApprovedCalls, SdkMessage, SdkPart } from './sdk-message.js';

/** The SDK's text for a call that was denied without a reason. */
const DENIED = 'Tool call execution denied.';

type SdkFields = SdkPart & Readonly<Record<string, unknown>>;

/** A message that was divided into several. */
interface Divided {
  readonly whole: SdkMessage;
  readonly pieces: readonly SdkMessage[];
  /** Whether the pieces have the same result objects as the message, in the same order. */
  readonly isInOrder: boolean;
}

/** Keyed by the whole message and by the first of its pieces. */
const DIVIDED = new WeakMap<SdkMessage, Divided>();

/**
 * Divides messages that have results of calls for which approval was asked: within a run, the SDK has these results in a message of their
 * own. Returns a list that cannot be read as it is, because its compaction fails and says why.
 */
export function divideApproved(messages: readonly SdkMessage[]): readonly SdkMessage[] {
  try {
    return messages.flatMap((message, at) =>
      message.role === 'tool' ? divided(message, messages, at) : message,
    );
  } catch {
    return messages;
  }
}

function divided(
  whole: SdkMessage,
  messages: readonly SdkMessage[],
  at: number,
): SdkMessage | readonly SdkMessage[] {
  const known = DIVIDED.get(whole);
  if (known !== undefined) return known.whole === whole ? known.pieces : whole;
  const isAfterApprovals = messages[at - 1]?.role === 'tool' && hasApproval(messages[at - 1]);
  if (!hasApproval(whole) && !isAfterApprovals) return whole;
  return divide(whole, answersBefore(messages, at))?.pieces ?? whole;
}

/** Returns the step's approval responses up to a message, by the id of the call that they are about. */
function answersBefore(messages: readonly SdkMessage[], at: number): Map<unknown, SdkFields> {
  let start = at;
  while (start > 0 && messages[start]?.role === 'tool') start -= 1;
  const [calling, ...answering] = messages.slice(start, at + 1).map(fieldsIn);
  const asked: ApprovedCalls = new Map();
  callsIn(calling ?? [], asked);
  return new Map(
    answering
      .flat()
      .filter(isApproval)
      .map((part) => [asked.get(part['approvalId']), part]),
  );
}

function divide(
  whole: SdkMessage,
  approvals: ReadonlyMap<unknown, SdkFields>,
): Divided | undefined {
  const parts = fieldsIn(whole);
  const approvalOf = (result: SdkFields): SdkFields | undefined =>
    approvals.get(result['toolCallId']);
  const kinds = parts.map((part) => {
    if (isApproval(part)) return 1;
    const approval = approvalOf(part);
    if (approval === undefined) return 0;
    return approval['approved'] === true ? 3 : 2;
  });
  const sent = [0, 1, 2, 3]
    .map((kind) => parts.filter((_, at) => kinds[at] === kind))
    .filter(({ length }) => length > 0)
    .map((piece) => piece.map((part) => asDenied(part, approvalOf(part))));
  if (sent.length < 2) return undefined;
  const pieces = sent.map((content): SdkMessage => ({ ...whole, content }));
  const results = parts.filter((part) => !isApproval(part));
  const sentResults = sent.flat().filter((part) => !isApproval(part));
  const isInOrder = sentResults.every((part, at) => part === results[at]);
  const known = { whole, pieces, isInOrder };
  DIVIDED.set(whole, known).set(pieces[0] as SdkMessage, known);
  return known;
}

/** Turns a denial back to what the SDK has within a run: converted UI messages have an error with the same text instead. */
function asDenied(result: SdkFields, approval: SdkFields | undefined): SdkFields {
  const { type, value } = asRecord(result['output']) ?? {};
  const reason = approval?.['reason'];
  const isDenial = approval !== undefined && value === (reason ?? DENIED);
  if (type !== 'error-text' || !isDenial) return result;
  return { ...result, output: { type: 'execution-denied', reason } };
}

/** Reverts `divideApproved` for messages whose pieces are neither edited nor in another order than the message's results. */
export function undoDivision(messages: readonly SdkMessage[]): SdkMessage[] {
  const all: SdkMessage[] = [];
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at] as SdkMessage;
    const { whole, pieces = [], isInOrder } = DIVIDED.get(message) ?? {};
    const isWhole = isInOrder && pieces.every((piece, offset) => piece === messages[at + offset]);
    all.push(isWhole ? (whole as SdkMessage) : message);
    if (isWhole) at += pieces.length - 1;
  }
  return all;
}

function hasApproval(message: SdkMessage | undefined): boolean {
  return message !== undefined && fieldsIn(message).some(isApproval);
}

function isApproval({ type }: SdkPart): boolean {
  return type === 'tool-approval-response';
}

function fieldsIn({ content }: SdkMessage): readonly SdkFields[] {
  return typeof content === 'string' ? [] : content;
}

/**
 * Returns a model's prompt with the results of each step in the order of its calls, which is the same before and after a
 * conversion: prompts do not tell which calls were approved. The same list if none is in another order, or it cannot be read.
 */
export function inCallOrder(prompt: readonly SdkMessage[]): readonly SdkMessage[] {
  try {
    const ordered = prompt.map((message, at) => resultsInOrder(message, prompt[at - 1]));
    return ordered.every((message, at) => message === prompt[at]) ? prompt : ordered;
  } catch {
    return prompt;
  }
}

function resultsInOrder(message: SdkMessage, before: SdkMessage | undefined): SdkMessage {
  const { role, content } = message;
  if (role !== 'tool' || content.length < 2 || !Array.isArray(before?.content)) return message;
  const { calls = [] } = callsIn(before.content as readonly SdkPart[], new Map());
  const places = (content as readonly SdkFields[]).map((part) => calls.indexOf(part['toolCallId']));
  if (places.includes(-1) || places.every((place, at) => place >= (places[at - 1] ?? 0)))
    return message;
  const placeOf = (at: number): number => places[at] ?? 0;
  const order = [...places.keys()].sort((one, other) => placeOf(one) - placeOf(other));
  return { ...message, content: order.map((at) => content[at] as SdkPart) };
}

/**
 * Returns a prompt with denials as errors, as they are after a conversion of UI messages: a provider's package writes the two differently,
 * and the process that serves the next request knows them as errors only. A denial with provider options stays: its provider asked for the
 * approval, and finds the approval by these options. Returns the same list if it cannot be read.
 */
export function withDenialsAsErrors(prompt: readonly SdkMessage[]): readonly SdkMessage[] {
  const isAsked = (part: SdkFields): boolean =>
    asRecord(part['output'])?.['providerOptions'] !== undefined;
  const isDenial = (part: SdkFields): boolean => asError(part) !== part && !isAsked(part);
  try {
    return prompt.map((message) => {
      if (message.role !== 'tool' || !fieldsIn(message).some(isDenial)) return message;
      const content = fieldsIn(message).map((part) => (isDenial(part) ? asError(part) : part));
      return { ...message, content };
    });
  } catch {
    return prompt;
  }
}

function asError(result: SdkFields): SdkFields {
  const { type, reason = DENIED } = asRecord(result['output']) ?? {};
  return type === 'execution-denied'
    ? { ...result, output: { type: 'error-text', value: reason } }
    : result;
}
