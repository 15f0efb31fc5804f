// The message format of LangChain: `BaseMessage` and classes derived from it. Edited messages keep their classes.

import type { BaseMessage, MessageContent } from '@langchain/core/messages';
import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { thinkingBlock } from '../../shared/content.js';
import type { ContentBlock, IContent } from '../../shared/content.js';
import { orphanedReasoning } from '../../shared/density/plan/materialize.js';
import { opaqueBlock } from '../format/blocks.js';
import { cacheMarksOf, isSameButForCacheMarks } from '../format/cache-marks.js';
import { citationsInContent } from '../format/citations.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import { editedContent } from '../format/part-edits.js';
import { joinTexts } from '../format/placed.js';
import { REMOVED_SCREENSHOT, withoutPicture } from '../format/screenshot.js';
import { reasoningOfHosted } from '../request/claude-reasoning.js';
import { BaseMessageReader } from './base-message-reader.js';
import { callFacts, callLists, withArguments } from './call-places.js';
import { copyWith, makeMessage } from './message-class.js';
import { contentList, fieldsOf, isScreenshot, typeOf } from './message-fields.js';
import { LANGCHAIN_PROVIDER_MESSAGES } from './provider-compaction.js';
import { mediaTypeOf } from './read-content.js';

/** The format of the messages that chat models of LangChain accept. */
export const baseMessageFormat: MessageFormat<BaseMessage> = {
  sdk: 'langchain',
  createReader: () => new BaseMessageReader(),
  isSame,
  rewrite,
  isInstruction,
  reasoningOf: reasoningOfHosted,
  mayNotOpen: (message) => typeOf(message) === 'ai',
  write,
  citations: citationsInContent((message, content) => copyWith(message, { content })),
  provider: LANGCHAIN_PROVIDER_MESSAGES,
};

/** LangChain uses `SystemMessage` for developer messages, too. */
function isInstruction(message: BaseMessage): boolean {
  try {
    return typeOf(message) === 'system';
  } catch {
    return false;
  }
}

/** Compares only what is sent to models: applications rebuild messages, and an agent gives new ids to those without one. */
function isSame(a: BaseMessage, b: BaseMessage): boolean {
  try {
    if (typeOf(a) !== typeOf(b)) return false;
    return isSameButForCacheMarks(sentFields(a), sentFields(b));
  } catch {
    // The message is invalid. The reader rejects it.
    return false;
  }
}

function sentFields(message: BaseMessage): JsonRecord {
  const { content, name, additional_kwargs: extra } = message;
  const { tool_calls: calls, invalid_tool_calls: invalidCalls } = fieldsOf(message);
  const { tool_call_id: callId, status, role } = fieldsOf(message);
  return { content, name, extra, calls, invalidCalls, callId, status, role };
}

function rewrite(message: BaseMessage, edits: PartEdits): BaseMessage {
  if (typeOf(message) === 'ai') return rewriteAiMessage(message, edits);
  const { content } = message;
  const edit = edits.get(0);
  if (edit?.type === 'tool_response') {
    const isShown = isScreenshot(fieldsOf(message));
    const result = isShown ? withoutPictures(content) : withResult(content, String(edit.result));
    return copyWith(message, { content: result });
  }
  return copyWith(message, { content: withEdits(content, edits) });
}

/** Replaces the blocks of a result by one text block, which keeps their cache marks and, for the Responses API, its block type. */
function withResult(content: BaseMessage['content'], text: string): BaseMessage['content'] {
  if (!Array.isArray(content)) return text;
  const items: readonly unknown[] = content;
  const isInput = /^input_/.test(asText(asRecord(items[0])?.['type']) ?? '');
  return [{ ...cacheMarksOf(items), type: isInput ? 'input_text' : 'text', text }];
}

function withoutPictures(content: BaseMessage['content']): BaseMessage['content'] {
  if (!Array.isArray(content)) return REMOVED_SCREENSHOT;
  const items = content.map((item) =>
    mediaTypeOf(item) === undefined ? item : withoutPicture(item),
  );
  return items as BaseMessage['content'];
}

function write({ speaker, blocks }: IContent, among: readonly BaseMessage[]): BaseMessage {
  return makeMessage(speaker === 'ai' ? 'AIMessage' : 'HumanMessage', joinTexts(blocks), among);
}

/**
 * Returns a message of the model with edited parts. A call is edited in each of its places, because integrations differ in which one
 * they send.
 */
function rewriteAiMessage(message: BaseMessage, edits: PartEdits): BaseMessage {
  const fields = fieldsOf(message);
  const calls = asArray(fields.tool_calls);
  const firstCall = contentList(fields.content).length;
  const isShortened = [...edits.values()].some((edit) => edit?.type === 'tool_call');
  const facts = isShortened ? callFacts(fields) : [];
  const changes: Record<string, unknown> = {};
  for (const { field, key, items, owners } of callLists(fields)) {
    const ofItems = new Map<number, ContentBlock | null>();
    const stated = items.map((item, at) => {
      const call = owners[at] ?? -1;
      // Of items without a call, only those of the content are parts.
      const isPart = call !== -1 || field === 'content';
      const edit = isPart ? edits.get(call === -1 ? at : firstCall + call) : undefined;
      if (edit === undefined) return item;
      ofItems.set(at, edit);
      if (edit?.type !== 'tool_call' || facts[call]?.isFixed !== false) return item;
      return withArguments(item, asRecord(calls[call])?.['args'], edit.parameters);
    });
    if (ofItems.size === 0) continue;
    if (field === 'content') {
      const content = Array.isArray(message.content) ? stated : stated[0];
      changes[field] = withEdits(content as MessageContent, ofItems);
    } else if (key === undefined) {
      changes[field] = withoutRemoved(stated, ofItems);
    } else {
      const all = asRecord(changes[field] ?? fields[field]) ?? {};
      const { [key]: _, ...others } = all;
      const remaining = withoutRemoved(stated, ofItems);
      // An empty list of calls would be sent instead of the message's `tool_calls`, and rejected.
      changes[field] = remaining.length === 0 ? others : { ...all, [key]: remaining };
    }
  }
  return copyWith(message, changes);
}

/** Removes items of calls, with the reasoning that led to nothing else. */
function withoutRemoved(items: readonly unknown[], edits: PartEdits): readonly unknown[] {
  const isRemoved = (at: number): boolean => edits.get(at) === null;
  const blocks = items.map((item) =>
    asRecord(item)?.['type'] === 'reasoning' ? thinkingBlock('') : opaqueBlock('item', 0),
  );
  const spent = orphanedReasoning(blocks, isRemoved);
  return items.filter((_, at) => !isRemoved(at) && !spent.includes(at));
}

/** Returns content with edits applied, as a string or a list like before. */
function withEdits(content: MessageContent, edits: PartEdits): MessageContent {
  const empty = Array.isArray(content) ? [] : '';
  return (editedContent(content, edits) ?? empty) as MessageContent;
}
