// The message format of OpenCode. OpenCode keeps the message objects that it passes, so they are never changed.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { withoutOptionsReasoning } from '../format/options-reasoning.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import { textsOf } from '../format/placed.js';
import { tryPlainData } from '../format/plain-data.js';
import { isSameValue } from '../format/same-value.js';
import { sentContent } from './stored-message.js';
import type { OpenCodeMessage, OpenCodePart } from './stored-message.js';
import {
  callPart,
  optionsReasoningPart,
  resultPart,
  StoredMessageReader,
} from './stored-message-reader.js';

/** The format of the messages in OpenCode's hook `experimental.chat.messages.transform`. */
export const storedMessageFormat: MessageFormat<OpenCodeMessage> = {
  createReader: () => new StoredMessageReader(),
  isSame,
  rewrite: rewriteMessage,
  write: writeMessage,
};

function isSame(a: OpenCodeMessage, b: OpenCodeMessage): boolean {
  try {
    return isSameValue(sentContent(a), sentContent(b));
  } catch {
    // A property throws when it is read.
    return false;
  }
}

function rewriteMessage({ info, parts }: OpenCodeMessage, edits: PartEdits): OpenCodeMessage {
  return {
    info,
    parts: parts.flatMap((part, at) => {
      const edit = edits.get(callPart(at));
      if (edit === null) return [];
      const rewritten = rewriteResult(rewritePart(part, edit), edits.get(resultPart(at)));
      return edits.get(optionsReasoningPart(at)) === null
        ? stripOptionsReasoning(rewritten)
        : rewritten;
    }),
  };
}

function stripOptionsReasoning(part: OpenCodePart): OpenCodePart {
  return { ...part, ...{ metadata: withoutOptionsReasoning(fieldsOf(part)['metadata']) } };
}

function rewritePart(part: OpenCodePart, edit: ContentBlock | undefined): OpenCodePart {
  if (edit?.type === 'text' && part.type === 'text') {
    // The provider's metadata belongs to the original text.
    const changed = { text: edit.text, metadata: undefined };
    return { ...part, ...changed };
  }
  if (edit?.type !== 'tool_call') return part;
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

/** Writes a message. Copies model, agent and session from the last message with the same role. */
function writeMessage(
  { speaker, blocks }: IContent,
  among: readonly OpenCodeMessage[],
): OpenCodeMessage {
  const role = speaker === 'ai' ? 'assistant' : 'user';
  const example = among.findLast(({ info }) => info.role === role) ?? among.at(-1);
  const { error: _, summary: _summary, ...info } = asRecord(tryPlainData(example?.info)) ?? {};
  const { id: exampleId = '', sessionID = '' } = example?.info ?? {};
  const id = `${exampleId}-ctxfold`;
  return {
    info: { ...info, id, sessionID, role },
    parts: textsOf(blocks).map((text, at) => {
      const part = { id: `${id}-${at}`, messageID: id, sessionID, text };
      return { type: 'text', ...part };
    }),
  };
}
