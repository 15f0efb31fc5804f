// What is looked at of OpenCode's messages, as its version 1.18 keeps them: a message has what is known of it and its parts,
// and a part of a tool is call and result in one. Says which parts a model is sent; makes no blocks of them.

import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** What is known of a message. */
export interface OpenCodeInfo {
  readonly id: string;
  readonly sessionID: string;
  readonly role: string;
}

/** A part of a message. */
export interface OpenCodePart {
  readonly type: string;
}

/** A message with its parts. */
export interface OpenCodeMessage {
  readonly info: OpenCodeInfo;
  readonly parts: readonly OpenCodePart[];
}

/** What OpenCode sends in place of results that it cleared by itself. */
const CLEARED = '[Old tool result content cleared]';
const INTERRUPTED = '[Tool execution was interrupted]';

/** What a tool answered, as the model is told. */
export interface ToolOutcome {
  readonly text: string;
  readonly isError: boolean;
  readonly attachments: readonly unknown[];
}

/** Reads what became of a call. One that was cut off counts as failed, as OpenCode has it. */
export function outcomeOf(part: JsonRecord): ToolOutcome {
  const state = asRecord(part['state']) ?? {};
  const text = (value: unknown): string => asText(value) ?? '';
  if (state['status'] === 'completed') {
    const isCleared = Boolean(asRecord(state['time'])?.['compacted']);
    if (isCleared) return { text: CLEARED, isError: false, attachments: [] };
    // OpenCode calls a command completed that has ended with any code.
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

/** Whether a model is sent a part of the user's. */
export function isSentByUser({ type, ...part }: JsonRecord): boolean {
  if (type === 'text') return part['ignored'] !== true && part['text'] !== '';
  if (type === 'file') {
    return part['mime'] !== 'text/plain' && part['mime'] !== 'application/x-directory';
  }
  return type === 'compaction' || type === 'subtask';
}

/** Whether a model is sent a part of an answer. */
export function isSentByAssistant({ type }: JsonRecord): boolean {
  return type === 'text' || type === 'reasoning' || type === 'tool';
}

/** Whether an answer failed: OpenCode sends it to no model, but for one that was cut off and has said something. */
export function isUnsentAnswer(info: JsonRecord, parts: readonly JsonRecord[]): boolean {
  const error = asRecord(info['error']);
  if (error === undefined) return false;
  const saysSomething = parts.some(({ type }) => type !== 'step-start' && type !== 'reasoning');
  return error['name'] !== 'MessageAbortedError' || !saysSomething;
}

/** All of a message that a model is sent, for comparison: hosts keep more with a message, and change that later. */
export function sentOf({ info, parts }: OpenCodeMessage): readonly unknown[] {
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
      if (isUser) return isSentByUser(fields) ? [saidByUser(fields)] : [];
      if (fields['type'] === 'tool') return [saidByTool(fields)];
      return fields['type'] === 'step-start' || isSentByAssistant(fields)
        ? [saidByModel(fields)]
        : [];
    }),
  ];
}

function saidByUser({ type, text, mime, url }: JsonRecord): unknown {
  return { type, text, mime, url };
}

function saidByModel({ type, text, metadata }: JsonRecord): unknown {
  return { type, text, metadata };
}

function saidByTool(part: JsonRecord): unknown {
  const input = asRecord(part['state'])?.['input'];
  return { id: part['callID'], name: part['tool'], input, ...outcomeOf(part) };
}
