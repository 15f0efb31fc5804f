// The message format of pi. Unedited parts and signatures are never changed.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import { editedContent } from '../format/part-edits.js';
import { textsOf } from '../format/placed.js';
import { spreadable } from '../format/plain-data.js';
import { isSameValue } from '../format/same-value.js';
import { fieldsOf } from './agent-message.js';
import type { PiMessage, PiPart } from './agent-message.js';
import { AgentMessageReader } from './agent-message-reader.js';

/**
 * The format of the messages in pi's event `context`. Failed and aborted answers, and the results of their calls, are pinned,
 * because pi sends them to no model.
 */
export const agentMessageFormat: MessageFormat<PiMessage> = {
  createReader: () => new AgentMessageReader(),
  isSame: (a, b) => isSameValue(a, b),
  rewrite: rewriteMessage,
  write: writeMessage,
};

function rewriteMessage(given: PiMessage, edits: PartEdits): PiMessage {
  const message = spreadable(given);
  const { role, content } = fieldsOf(message);
  const first = edits.get(0);
  if (role === 'toolResult') {
    if (first?.type !== 'tool_response') return message;
    return withContent(message, [textPart(String(first.result))]);
  }
  if (role === 'branchSummary' || role === 'compactionSummary') {
    const summary = first?.type === 'text' ? { summary: first.text } : {};
    return { ...message, ...summary };
  }
  return withContent(message, editedContent(content, edits, rewritePart));
}

function rewritePart(part: PiPart, edit: ContentBlock): PiPart {
  if (edit.type === 'text' && part.type === 'text') {
    // The signature covers the original text.
    const { textSignature: _, ...fields } = part as PiPart & { readonly textSignature?: string };
    return { ...fields, ...textPart(edit.text) };
  }
  if (edit.type !== 'tool_call') return part;
  const changed = { arguments: asRecord(edit.parameters) ?? {} };
  return { ...part, ...changed };
}

function withContent(message: PiMessage, content: unknown): PiMessage {
  const changed = { content };
  return { ...message, ...changed };
}

function textPart(text: string): PiPart & { readonly text: string } {
  return { type: 'text', text };
}

/** Writes a message. An answer gets the API, provider and model of the last answer. */
function writeMessage({ speaker, blocks }: IContent, among: readonly PiMessage[]): PiMessage {
  const content = textsOf(blocks).map(textPart);
  const fields = { content, timestamp: 0 };
  if (speaker !== 'ai') return { role: 'user', ...fields };
  const last = among.findLast(({ role }) => role === 'assistant');
  const { api, provider, model } = (last ?? {}) as Readonly<Record<string, unknown>>;
  return {
    role: 'assistant',
    ...fields,
    ...{ api, provider, model, usage: NO_USAGE, stopReason: 'stop' },
  };
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: NO_COST,
};
