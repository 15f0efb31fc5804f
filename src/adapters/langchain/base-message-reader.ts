// Reads the messages of one conversation as entries, and pairs answers with calls.

import { isStripped } from '../../main/preflight/reasoning-policy.js';
import { asArray, asRecord, asText, errorLine, isRecord } from '../../shared/json.js';
import { toolCall } from '../../shared/content.js';
import type { BaseMessage } from '@langchain/core/messages';
import { payloadText } from '../../shared/tokens/content-text.js';
import { CallPairing } from '../format/call-pairing.js';
import { answerBlock, opaqueBlockOf } from '../format/blocks.js';
import { mediaTokensIn } from '../format/opaque-tokens.js';
import { PinnedCalls, WholeExchanges } from '../format/pinned-calls.js';
import { fixedIf, groupOfCalls, placed } from '../format/placed.js';
import { SCREENSHOT } from '../format/screenshot.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../format/message-format.js';
import { plainData } from '../format/plain-data.js';
import { callFacts, ownersOf } from './call-places.js';
import type { CallFacts } from './call-places.js';
import { callIdOf, callsIn, isCallBlock } from './calls-in-message.js';
import { contentList, fieldsOf, isScreenshot, typeOf } from './message-fields.js';
import type { MessageFields } from './message-fields.js';
import { mediaTypeOf, opaqueContent, readContent, readResult } from './read-content.js';

/** Stands for the entry of a pinned message, which gets none. */
const PINNED: PlacedEntry = { speaker: 'human', blocks: [] };

export class BaseMessageReader implements MessageReader<BaseMessage> {
  readonly #pairing = new CallPairing();
  readonly #pinned = new PinnedCalls();
  readonly #whole = new WholeExchanges();

  read(message: BaseMessage, index: number, reading: Reading): void {
    const given = readFields(message, index);
    const { type, fields } = given;
    const answered = type === 'tool' ? [fields.tool_call_id] : [];
    const calls = type === 'ai' ? callsIn(fields) : { answered };
    const entry = this.#readMessage(given, index, this.#pinned.pins(calls));
    if (entry.blocks.length > 0) this.#whole.pass([entry], reading);
    else this.#whole.take({ ...calls, blocks: wholeBlocks(fields, index) }, reading);
  }

  end(reading: Reading): void {
    this.#whole.end(reading);
  }

  #readMessage(message: ReadMessage, index: number, isPinned: boolean): PlacedEntry {
    const { type, fields } = message;
    switch (type) {
      case 'human':
        return { speaker: 'human', blocks: readParts(fields.content, index) };
      case 'ai':
        this.#pairing.beginStep();
        return isPinned ? PINNED : { speaker: 'ai', blocks: this.#readAi(message, index) };
      case 'tool':
        return isPinned ? PINNED : { speaker: 'tool', blocks: [this.#readTool(fields, index)] };
      case 'remove':
        throw new TypeError(
          `Expected a message to send at messages[${index}], got a RemoveMessage. ` +
            'It is for the state of a graph: compact the messages that the state holds.',
        );
      default:
        // System messages, and those with provider-specific roles.
        return PINNED;
    }
  }

  /** Numbers the parts: blocks of the content, then calls, then invalid calls. A call that is also in the content is one part. */
  #readAi({ fields, facts }: ReadMessage, index: number): readonly PlacedBlock[] {
    const content = contentList(fields.content);
    const calls = asArray(fields.tool_calls);
    const invalidCalls = asArray(fields.invalid_tool_calls);
    const owners = ownersOf(content, [...calls, ...invalidCalls]);
    const group = groupOfCalls(
      facts.map(({ isSigned }) => isSigned),
      index,
    );
    const blocks: PlacedBlock[] = [];
    content.forEach((item, at) => {
      if (owners[at] !== -1) return;
      if (isCallBlock(item)) {
        const { input, args, arguments: text } = item;
        const name = asText(item['name']) ?? '';
        const call = this.#readCall(callIdOf(item), name, input ?? args ?? text, [index, at]);
        blocks.push({ ...call, ...fixedIf(true) });
      } else {
        blocks.push(placed(readContent(item), index, at));
      }
    });
    calls.forEach((listed, at) => {
      const call = asRecord(listed);
      const name = asText(call?.['name']);
      const part = content.length + at;
      if (call === undefined || name === undefined) {
        blocks.push(invalidCall(listed, index, part));
      } else {
        const id = asText(call['id']);
        const block = this.#readCall(id, name, call['args'], [index, part]);
        blocks.push({ ...block, ...group, ...fixedIf(facts[at]?.isFixed ?? true) });
      }
    });
    invalidCalls.forEach((call, at) => {
      blocks.push(invalidCall(call, index, content.length + calls.length + at));
    });
    return blocks;
  }

  #readCall(
    id: string | undefined,
    name: string,
    parameters: unknown,
    origin: readonly [number, number],
  ): PlacedBlock {
    const blockId = this.#pairing.call({ id, name }, origin);
    return { ...toolCall(blockId, name, parameters ?? {}), origin };
  }

  #readTool(message: MessageFields, index: number): PlacedBlock {
    const id = asText(message.tool_call_id);
    const { status } = message;
    const answers = { id: id === '' ? undefined : id, name: asText(message.name) };
    const call = this.#pairing.answer(answers, [index, 0], true);
    if (isScreenshot(message)) return placed(answerBlock(call, SCREENSHOT), index, 0);
    const result = readResult(message.content);
    const outcome = {
      result,
      error: status === 'error' ? errorLine(payloadText(result)) : undefined,
      mediaTokens: mediaTokensIn(contentList(message.content), mediaTypeOf),
    };
    return placed(answerBlock(call, outcome), index, 0);
  }
}

/** Returns the blocks of a message that must stay whole: its reasoning, its texts, for summaries, and opaque blocks for the rest. */
function wholeBlocks({ content, tool_calls: calls }: MessageFields, index: number): PlacedBlock[] {
  const items = contentList(content);
  const blocks = items.map((item) => {
    const block = readContent(item);
    return block.type === 'text' || isStripped(block)
      ? block
      : opaqueBlockOf('whole', item, mediaTypeOf);
  });
  const others = calls === undefined ? [] : [opaqueBlockOf('calls', calls)];
  return [...blocks, ...others].map((block, at) => placed(block, index, at));
}

function readParts(content: unknown, index: number): readonly PlacedBlock[] {
  return contentList(content).map((item, at) => {
    // Calls and results in a user message are opaque.
    const isForeign = isCallBlock(item) || (isRecord(item) && item['tool_use_id'] !== undefined);
    return placed(isForeign ? opaqueContent(item) : readContent(item), index, at);
  });
}

function invalidCall(call: unknown, message: number, part: number): PlacedBlock {
  return placed(opaqueBlockOf('invalid_tool_call', call), message, part);
}

interface ReadMessage {
  readonly type: string;
  readonly fields: MessageFields;
  /** Of each call of a message of the model; empty if they could not be read. */
  readonly facts: readonly CallFacts[];
}

/** Reads the fields of a message as plain data. */
function readFields(message: unknown, index: number): ReadMessage {
  const where = `messages[${index}]`;
  let read: Omit<ReadMessage, 'facts'> | undefined;
  try {
    read = isMessage(message) ? pickFields(message) : undefined;
  } catch (cause) {
    const got = 'what throws when it is read';
    throw new TypeError(`Expected a message of LangChain at ${where}, got ${got}.`, { cause });
  }
  if (read !== undefined) {
    const fields = asRecord(plainData(read.fields, where)) ?? {};
    return {
      type: read.type,
      fields,
      facts: read.type === 'ai' ? factsOf(asRecord(message) ?? {}) : [],
    };
  }
  const got = message === null ? 'null' : typeof message;
  throw new TypeError(
    `Expected a message of LangChain at ${where}, got ${got}. ` +
      'Make messages of plain objects by coerceMessageLikeToMessage first.',
  );
}

/** Returns no facts if the provider's own data throw when they are read: that is no reason to reject the message. */
function factsOf(message: MessageFields): readonly CallFacts[] {
  try {
    return callFacts(message);
  } catch {
    return [];
  }
}

function isMessage(value: unknown): value is BaseMessage {
  return isRecord(value) && ('getType' in value || '_getType' in value);
}

function pickFields(message: BaseMessage): Omit<ReadMessage, 'facts'> {
  const { content, name, status, tool_calls, invalid_tool_calls, tool_call_id } = fieldsOf(message);
  const { additional_kwargs: extra } = fieldsOf(message);
  return {
    type: typeOf(message),
    fields: {
      ...{ content, name, status, tool_calls, invalid_tool_calls, tool_call_id },
      // The rest of these is not needed.
      additional_kwargs: { type: asRecord(extra)?.['type'] },
    },
  };
}
