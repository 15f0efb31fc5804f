// The fields of pi's messages that are used. Pi is not imported: any version with these fields works.

import { asArray, asRecord, asText, textOfParts } from '../../shared/json.js';
import { reportedSum } from '../request/call-arguments.js';

/** A part of a message: text, thinking, a tool call, an image. */
export interface PiPart {
  readonly type: string;
}

/** A message of the user, the assistant, a tool, or pi itself. */
export interface PiMessage {
  readonly role: string;
}

/** The fields of a message as plain data, all of which may be missing. */
export interface PiMessageFields extends PiMessage {
  readonly content?: string | readonly PiPart[];
  readonly timestamp?: number;
  readonly toolCallId?: string;
  readonly stopReason?: string;
  readonly summary?: string;
}

export function fieldsOf(message: PiMessage): PiMessageFields {
  return message;
}

/** Whether a message is a failed or aborted answer: pi sends neither that answer nor the results of its calls to a model. */
export function isUnsent({ role, stopReason }: PiMessageFields): boolean {
  return role === 'assistant' && (stopReason === 'error' || stopReason === 'aborted');
}

/** Returns the text of a tool's result, with `[image]` for each image. */
export function resultText(content: unknown): string {
  const text = textOfParts(content);
  if (text !== undefined) return text;
  const texts = asArray(content).map((part) => asText(asRecord(part)?.['text']) ?? '[image]');
  return texts.join('\n');
}

/**
 * Returns the text of the result of a call among messages. If several results have the same id, a placeholder with that id stands for the
 * first of them.
 */
export function originalIn(messages: readonly unknown[], callId: string): string | undefined {
  const fields = messages.map(asRecord);
  const found = fields.find(
    (each) => each?.['role'] === 'toolResult' && each['toolCallId'] === callId,
  );
  return found && resultText(found['content']);
}

/** Returns the provider's usage for the request of the last answer; `{}` if it is not reported. */
export function usageOf(messages: readonly PiMessage[]): ReturnType<typeof reportedSum> {
  const last = messages.findLast(({ role }) => role === 'assistant');
  if (last === undefined || isUnsent(fieldsOf(last))) return {};
  const { usage } = last as { readonly usage?: unknown };
  const { input, cacheRead, cacheWrite } = asRecord(usage) ?? {};
  return reportedSum(input, cacheRead, cacheWrite);
}
