// The message format of OpenCode: how its messages are recognized, what an edit leaves of one, and how ctxfold's own are
// made. OpenCode keeps the messages that it hands over, so that nothing in them is ever changed.

import { isBlank } from '../../shared/content.js';
import type { ContentBlock, IContent } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { MessageFormat, PartEdits } from '../message-format.js';
import { tryPlainData } from '../plain-data.js';
import { isSameValue } from '../same-value.js';
import { spentReasoning } from '../spent-reasoning.js';
import { isSentByAssistant, sentOf } from './stored-message.js';
import type { OpenCodeMessage, OpenCodePart } from './stored-message.js';
import { callPart, isSigned, resultPart, StoredMessageReader } from './stored-message-reader.js';

/** The format of the messages that OpenCode hands to its hook `experimental.chat.messages.transform`. */
export const storedMessageFormat: MessageFormat<OpenCodeMessage> = {
  createReader: () => new StoredMessageReader(),
  isSame,
  rewrite: rewriteMessage,
  write: writeMessage,
};

function isSame(a: OpenCodeMessage, b: OpenCodeMessage): boolean {
  try {
    return isSameValue(sentOf(a), sentOf(b));
  } catch {
    // What throws when it is looked at is the same as nothing.
    return false;
  }
}

function rewriteMessage({ info, parts }: OpenCodeMessage, edits: PartEdits): OpenCodeMessage {
  const sent = parts.map((part) => isSentByAssistant(fieldsOf(part)));
  const places = [...parts.keys()].filter((at) => sent[at] === true);
  const spent = spentReasoning(
    places.map((at) => ({
      isReasoning: parts[at]?.type === 'reasoning',
      isRemoved: edits.get(callPart(at)) === null,
    })),
  );
  const isSpent = new Set(places.filter((_, place) => spent[place]));
  return {
    info,
    parts: parts.flatMap((part, at) => {
      const edit = edits.get(callPart(at));
      if (edit === null || isSpent.has(at)) return [];
      if (edit?.type === 'text' && isBlank(edit.text)) return [];
      return rewriteResult(rewritePart(part, edit), edits.get(resultPart(at)));
    }),
  };
}

function rewritePart(part: OpenCodePart, edit: ContentBlock | undefined): OpenCodePart {
  if (edit?.type === 'text' && part.type === 'text') {
    // What the provider keeps of a text is of the text that was.
    const changed = { text: edit.text, metadata: undefined };
    return { ...part, ...changed };
  }
  if (edit?.type !== 'tool_call' || isSigned(fieldsOf(part))) return part;
  return withState(part, { input: asRecord(edit.parameters) ?? {} });
}

function rewriteResult(part: OpenCodePart, edit: ContentBlock | null | undefined): OpenCodePart {
  if (edit?.type !== 'tool_response') return part;
  const text = String(edit.result);
  const state = asRecord(fieldsOf(part)['state']);
  if (state?.['status'] === 'completed') {
    return withState(part, { output: text, attachments: undefined });
  }
  const metadata = { ...asRecord(state?.['metadata']), output: text };
  return withState(part, { status: 'error', error: text, metadata });
}

function withState(part: OpenCodePart, changed: JsonRecord): OpenCodePart {
  const state = { ...asRecord(fieldsOf(part)['state']), ...changed };
  return { ...part, ...{ state } };
}

function fieldsOf(part: OpenCodePart): JsonRecord {
  return { ...part };
}

/** A message beside one of the same role, from which it has model, agent and session. */
function writeMessage(
  { speaker, blocks }: IContent,
  among: readonly OpenCodeMessage[],
): OpenCodeMessage {
  const role = speaker === 'ai' ? 'assistant' : 'user';
  const former = among.findLast(({ info }) => info.role === role) ?? among.at(-1);
  const known = asRecord(tryPlainData(former?.info)) ?? {};
  const { id: formerId = '', sessionID = '' } = former?.info ?? {};
  const id = `${formerId}-ctxfold`;
  const { error: _, summary: _summary, ...info } = known;
  return {
    info: { ...info, id, sessionID, role },
    parts: blocks.flatMap((block, at) => {
      if (block.type !== 'text') return [];
      const part = { id: `${id}-${at}`, messageID: id, sessionID, text: block.text };
      return { type: 'text', ...part };
    }),
  };
}
