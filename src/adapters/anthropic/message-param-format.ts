// The message format of Anthropic's Messages API. The state of a conversation is in the format's reader.

import type { ContentBlock } from '../../shared/content.js';
import { asArray, asRecord } from '../../shared/json.js';
import { cacheMarksOf, isSameButForCacheMarks } from '../format/cache-marks.js';
import { citationsInContent } from '../format/citations.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import { madeFrom } from '../format/originals.js';
import { editedContent } from '../format/part-edits.js';
import { joinTexts } from '../format/placed.js';
import { spreadable } from '../format/plain-data.js';
import { ANTHROPIC_PROVIDER_MESSAGES } from './provider-compaction.js';
import { MessageParamReader } from './message-param-reader.js';
import { isReasoning } from './message-part.js';
import type { MessagePart, AnthropicMessage } from './message-part.js';

export const MESSAGE_PARAM_FORMAT: MessageFormat<AnthropicMessage> = {
  sdk: 'anthropic',
  createReader: () => new MessageParamReader(),
  isSame: isSameButForCacheMarks,
  rewrite: rewriteMessage,
  mayNotOpen: ({ role }) => role !== 'user',
  write: ({ speaker, blocks }) => {
    const content = joinTexts(blocks);
    return speaker === 'ai'
      ? { role: 'assistant', content: content.trimEnd() }
      : { role: 'user', content };
  },
  citations: citationsInContent<AnthropicMessage>(withContent),
  provider: ANTHROPIC_PROVIDER_MESSAGES,
};

/** Applies edits to a message. A cache breakpoint on a removed part is lost. */
function rewriteMessage(message: AnthropicMessage, edits: PartEdits): AnthropicMessage {
  const fields = spreadable(message);
  return withContent(message, editedContent(fields.content, edits, editedPart), fields);
}

function withContent(
  message: AnthropicMessage,
  content: unknown,
  fields: AnthropicMessage = spreadable(message),
): AnthropicMessage {
  return madeFrom({ ...fields, content } as AnthropicMessage, message);
}

function editedPart(part: MessagePart, edit: ContentBlock): MessagePart {
  if (edit.type === 'text' && part.type === 'text') return { ...part, text: edit.text };
  if (edit.type === 'tool_call' && part.type === 'tool_use') {
    return { ...part, input: edit.parameters };
  }
  const isReplaced = edit.type === 'tool_response' && !loadsTools(part);
  if (!isReplaced || typeof edit.result !== 'string') return part;
  return { ...part, content: inFormOf(part['content'], edit.result) };
}

/**
 * Returns a text in the form of the content that it replaces: a list stays a list, with or without cache breakpoints, because agents
 * move breakpoints and thinking may be bound to the form.
 */
function inFormOf(replaced: unknown, text: string): string | readonly MessagePart[] {
  return Array.isArray(replaced) ? [{ type: 'text', text, ...cacheMarksOf(replaced) }] : text;
}

/** Whether a result loads tools by reference: without the result, the model would lose these tools. */
function loadsTools({ content }: MessagePart): boolean {
  return asArray(content).some((item) => asRecord(item)?.['type'] === 'tool_reference');
}

/** Returns messages without any reasoning. */
export function withoutReasoning(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  return messages.flatMap((message) => {
    const parts = asArray(message.content) as readonly MessagePart[];
    if (!parts.some(isReasoning)) return message;
    const content = parts.filter((part) => !isReasoning(part));
    return content.length === 0 ? [] : withContent(message, content);
  });
}
