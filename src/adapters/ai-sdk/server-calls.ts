// Reads which calls a message of the AI SDK makes and answers.

import { asRecord, isRecord } from '../../shared/json.js';
import type { CallsInMessage } from '../pinned-calls.js';
import type { SdkPart } from './sdk-message.js';

/** Calls by the id of their approval, because the responses contain the approval id only. */
export type ApprovedCalls = Map<unknown, string>;

interface PartFields {
  readonly type: string;
  readonly toolCallId?: unknown;
  readonly approvalId?: unknown;
  readonly providerExecuted?: unknown;
  readonly input?: unknown;
  readonly providerOptions?: unknown;
}

/** Reads calls, results and approvals, whose requests are added to `approved`, and no other part. */
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
    usesComputer: calls.some(isOfComputer),
    isBound: calls.some(isBound),
  };
}

function idsOf(parts: readonly PartFields[]): readonly unknown[] {
  return parts.map(({ toolCallId }) => toolCallId);
}

/** Whether a tool of the provider made the call (Anthropic's code execution, OpenAI's programs), or its result is tools found for a search. */
function isBound({ input, providerOptions }: PartFields): boolean {
  const { arguments: sought, call_id: id } = asRecord(input) ?? {};
  if (sought !== undefined && typeof id === 'string') return true;
  return Object.values(asRecord(providerOptions) ?? {}).some((options) => {
    const caller = asRecord(asRecord(options)?.['caller']);
    return caller !== undefined && caller['type'] !== 'direct';
  });
}

function isOfComputer({ input }: PartFields): boolean {
  const { actions, pendingSafetyChecks } = asRecord(input) ?? {};
  return Array.isArray(actions) && Array.isArray(pendingSafetyChecks);
}
