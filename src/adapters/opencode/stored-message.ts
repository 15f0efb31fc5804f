// The fields of OpenCode's messages that are used, as of version 1.18: a message has `info` and parts, and a tool part is both call and
// result. Determines which parts are sent to models; creates no blocks.

import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** Fields of a message besides its parts. */
export interface OpenCodeInfo {
  readonly id: string;
  readonly sessionID: string;
  readonly role: string;
}

/** A part of a message. */
export interface OpenCodePart {
  readonly type: string;
}

export interface OpenCodeMessage {
  readonly info: OpenCodeInfo;
  readonly parts: readonly OpenCodePart[];
}

/** Texts that OpenCode sends instead of results that it has cleared, and of results that are missing. */
const CLEARED = '[Old tool result content cleared]';
const INTERRUPTED = '[Tool execution was interrupted]';

/** The result of a tool, as sent to the model. */
export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
  readonly attachments: readonly unknown[];
}

/** Reads the result of a tool part. An interrupted call counts as failed, as in OpenCode. */
export function outcomeOf(part: JsonRecord): ToolOutcome {
  const state = asRecord(part['state']) ?? {};
  const text = (value: unknown): string => asText(value) ?? '';
  if (state['status'] === 'completed') {
    const isCleared = Boolean(asRecord(state['time'])?.['compacted']);
    if (isCleared) return { text: CLEARED, isError: false, attachments: [] };
    // For OpenCode, a command has completed whatever its exit code is.
    const exit = asRecord(state['metadata'])?.['exit'];
    return {
      text: text(state['output']),
      isError: typeof exit === 'number' && exit !== 0,
      attachments: asArray(state['attachments']),
    };
  }
  if (state['status'] !== 'error') return { text: INTERRUPTED, isError: true, attachments: [] };
  const { interrupted, output } = asRecord(state['metadata']) ?? {};
  const isShown = interrupted === true && typeof output === 'string';
  return { text: isShown ? output : text(state['error']), isError: !isShown, attachments: [] };
}

/** Whether a part of a user message is sent to models. */
export function isSentByUser({ type, ...part }: JsonRecord): boolean {
  if (type === 'text') return part['ignored'] !== true && part['text'] !== '';
  if (type === 'file') {
    return part['mime'] !== 'text/plain' && part['mime'] !== 'application/x-directory';
  }
  return type === 'compaction' || type === 'subtask';
}

/** Whether a part of an answer is sent to models. */
export function isSentByAssistant({ type }: JsonRecord): boolean {
  return type === 'text' || type === 'reasoning' || type === 'tool';
}

/** Whether OpenCode sends an answer to no model: it has failed, or was aborted without content. */
export function isUnsentAnswer(info: JsonRecord, parts: readonly JsonRecord[]): boolean {
  const error = asRecord(info['error']);
  if (error === undefined) return false;
  const hasContent = parts.some(({ type }) => type !== 'step-start' && type !== 'reasoning');
  return error['name'] !== 'MessageAbortedError' || !hasContent;
}

/** Returns what is sent to models of a message, for comparison: OpenCode changes other fields later. */
export function sentContent({ info, parts }: OpenCodeMessage): readonly unknown[] {
  const { id, role, ...rest } = info as OpenCodeInfo & JsonRecord;
  const isUser = role === 'user';
  return [
    id,
    role,
    rest['providerID'],
    rest['modelID'],
    asRecord(rest['error'])?.['name'],
    ...parts.flatMap((part): readonly unknown[] => {
      const fields = asRecord(part) ?? {};
      const { type, text, mime, url, metadata } = fields;
      if (isUser) return isSentByUser(fields) ? [{ type, text, mime, url }] : [];
      if (type === 'tool') {
        const input = asRecord(fields['state'])?.['input'];
        return [{ id: fields['callID'], name: fields['tool'], input, ...outcomeOf(fields) }];
      }
      return type === 'step-start' || isSentByAssistant(fields) ? [{ type, text, metadata }] : [];
    }),
  ];
}
