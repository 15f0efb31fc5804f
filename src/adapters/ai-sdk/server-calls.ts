// Finds the messages that a provider needs unchanged: those with a call of its own tool whose result is in another message, such as
// the code execution that makes calls itself, with those calls, with calls whose results cannot be a text, and with what answers
// any of them.

import { asRecord, isRecord } from '../../shared/json.js';
import type { SdkPart } from './sdk-message.js';

/** The calls of one conversation. Knows calls, results and approvals, and no other part. */
export class ServerCalls {
  /** Calls in pinned messages: messages that answer them are pinned, too. */
  readonly #pinned = new Set<unknown>();
  /** Calls by the id of their approval, because the responses contain the approval id only. */
  readonly #approved = new Map<unknown, string>();

  /** Returns the call of an approval request, by the approval's id; `undefined` if the request was not read. */
  approvedCall(approvalId: unknown): string | undefined {
    return this.#approved.get(approvalId);
  }

  /** Whether a message must be sent unchanged. To be called once for each message, in order. */
  pins(parts: readonly SdkPart[]): boolean {
    const fields: readonly CallFields[] = parts.filter(isRecord);
    for (const { type, approvalId, toolCallId } of fields) {
      const isRequest = type === 'tool-approval-request' && typeof toolCallId === 'string';
      if (isRequest) this.#approved.set(approvalId, toolCallId);
    }
    const idsOf = (of: string): ReadonlySet<unknown> =>
      new Set(fields.flatMap(({ type, toolCallId }) => (type === of ? [toolCallId] : [])));
    const calls = idsOf('tool-call');
    const results = idsOf('tool-result');
    const isPinned = fields.some((part) => {
      const { type, providerExecuted, approvalId } = part;
      const { toolCallId: id = this.approvedCall(approvalId) } = part;
      if (type !== 'tool-call') return !calls.has(id) && this.#pinned.has(id);
      return isUntouchable(part) || (providerExecuted === true && !results.has(id));
    });
    for (const { type, toolCallId } of fields) {
      if (type !== 'tool-call') continue;
      if (isPinned) this.#pinned.add(toolCallId);
      else this.#pinned.delete(toolCallId);
    }
    return isPinned;
  }
}

interface CallFields {
  readonly type: string;
  readonly toolCallId?: unknown;
  readonly approvalId?: unknown;
  readonly providerExecuted?: unknown;
  readonly input?: unknown;
  readonly providerOptions?: unknown;
}

/**
 * Whether a tool of the provider made the call (Anthropic's code execution, OpenAI's programs), or its result is no text: a
 * screenshot for OpenAI's computer, tools found for its search.
 */
function isUntouchable(call: CallFields): boolean {
  if (isOfComputer(call)) return true;
  const { input, providerOptions } = call;
  const { arguments: sought, call_id: id } = asRecord(input) ?? {};
  if (sought !== undefined && typeof id === 'string') return true;
  return Object.values(asRecord(providerOptions) ?? {}).some((options) => {
    const caller = asRecord(asRecord(options)?.['caller']);
    return caller !== undefined && caller['type'] !== 'direct';
  });
}

function isOfComputer({ input }: CallFields): boolean {
  const { actions, pendingSafetyChecks } = asRecord(input) ?? {};
  return Array.isArray(actions) && Array.isArray(pendingSafetyChecks);
}

/**
 * The ids of the calls of a message that uses OpenAI's computer and has no other call that pins it; `undefined` for any other
 * message.
 */
export function callsWithComputer(parts: readonly SdkPart[]): readonly unknown[] | undefined {
  const calls: readonly CallFields[] = parts
    .filter(isRecord)
    .filter(({ type }) => type === 'tool-call');
  const isOther = (call: CallFields): boolean =>
    call.providerExecuted === true || (isUntouchable(call) && !isOfComputer(call));
  if (!calls.some(isOfComputer) || calls.some(isOther)) return undefined;
  return calls.map(({ toolCallId }) => toolCallId);
}
