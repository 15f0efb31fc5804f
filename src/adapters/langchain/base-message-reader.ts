// Reads the messages of one conversation as entries, and remembers which calls wait for an answer.

import { isRecord } from '../../main/formats/json-value.js';
import type { BaseMessage } from '@langchain/core/messages';
import { payloadText } from '../../shared/tokens/content-text.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { CallPairing } from '../call-pairing.js';
import { failureLine } from '../failure-line.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../message-format.js';
import { placed } from '../placed.js';
import { aiMessageParts, callIdOf, contentList, isCallBlock } from './ai-message-parts.js';
import { optionalFields, textField, typeOf } from './message-fields.js';
import {
  contentTokens,
  opaqueContent,
  readContent,
  readResult,
  resultMediaTokens,
} from './read-content.js';

/** A reader of messages. */
export class BaseMessageReader implements MessageReader<BaseMessage> {
  readonly #pairing = new CallPairing();

  read(messages: readonly BaseMessage[], firstIndex: number): Reading {
    const entries: PlacedEntry[] = [];
    let pinnedTokens = 0;
    messages.forEach((message, at) => {
      const entry = this.#readMessage(message, firstIndex + at);
      if (entry.blocks.length > 0) entries.push(entry);
      else pinnedTokens += contentTokens(message.content);
    });
    return { entries, pinnedTokens };
  }

  /** Returns an entry without blocks for a message that is pinned. */
  #readMessage(message: BaseMessage, index: number): PlacedEntry {
    assertMessage(message, index);
    switch (typeOf(message)) {
      case 'human':
        return { speaker: 'human', blocks: readParts(message.content, index) };
      case 'ai':
        this.#pairing.beginStep();
        return { speaker: 'ai', blocks: this.#readAi(message, index) };
      case 'tool':
        return { speaker: 'tool', blocks: [this.#readTool(message, index)] };
      case 'remove':
        throw new TypeError(
          `Expected a message to send at messages[${index}], got a RemoveMessage. ` +
            'It is for the state of a graph: compact the messages that the state holds.',
        );
      default:
        // System messages, and those whose role only their provider knows.
        return { speaker: 'human', blocks: [] };
    }
  }

  #readAi(message: BaseMessage, index: number): readonly PlacedBlock[] {
    const parts = aiMessageParts(message);
    const blocks: PlacedBlock[] = [];
    parts.content.forEach((item, at) => {
      if (parts.partOfContent[at] !== at) return;
      if (isCallBlock(item)) {
        const { input, args, arguments: text } = item;
        const name = textField(item, 'name') ?? '';
        blocks.push(this.#readCall(callIdOf(item), name, input ?? args ?? text, [index, at]));
      } else {
        blocks.push(placed(readContent(item), index, at));
      }
    });
    parts.calls.forEach(({ id, name, args }, at) => {
      blocks.push(this.#readCall(id, name, args, [index, parts.firstCall + at]));
    });
    parts.invalidCalls.forEach((call, at) => {
      const tokens = estimatePayloadTokens(call);
      const block = { type: 'opaque', kind: 'invalid_tool_call', tokens } as const;
      blocks.push(placed(block, index, parts.firstInvalidCall + at));
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
    return { type: 'tool_call', id: blockId, name, parameters: parameters ?? {}, origin };
  }

  #readTool(message: BaseMessage, index: number): PlacedBlock {
    const { tool_call_id: id, status } = optionalFields(message);
    const { name } = message;
    const call = this.#pairing.answer({ id: id === '' ? undefined : id, name }, [index, 0], true);
    const result = readResult(message.content);
    const mediaTokens = resultMediaTokens(message.content);
    return placed(
      {
        type: 'tool_response',
        callId: call.blockId,
        toolName: call.name,
        result,
        ...(status === 'error' && { error: errorLine(result) }),
        isComplete: true,
        ...(mediaTokens > 0 && { mediaTokens }),
      },
      index,
      0,
    );
  }
}

function readParts(content: unknown, index: number): readonly PlacedBlock[] {
  return contentList(content).map((item, at) => {
    // Calls and their results have no place in what a human says, and are not looked into there.
    const isForeign = isCallBlock(item) || (isRecord(item) && item['tool_use_id'] !== undefined);
    return placed(isForeign ? opaqueContent(item) : readContent(item), index, at);
  });
}

function errorLine(result: unknown): string {
  return failureLine(payloadText(result)) ?? 'The tool failed.';
}

function assertMessage(message: unknown, index: number): void {
  if (isRecord(message) && ('getType' in message || '_getType' in message)) return;
  const got = message === null ? 'null' : typeof message;
  throw new TypeError(
    `Expected a message of LangChain at messages[${index}], got ${got}. ` +
      'Make messages of plain objects by coerceMessageLikeToMessage first.',
  );
}
