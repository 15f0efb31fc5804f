// Reads pi's messages of one conversation as entries, and pairs results with calls.

import { thinkingBlock, toolCall } from '../../shared/content.js';
import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import { asArray, asFilledText, asRecord, asText, errorLine } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { answerBlock, mediaBlock, opaqueBlockOf } from '../format/blocks.js';
import { CallPairing } from '../format/call-pairing.js';
import { estimateOpaqueTokens, mediaTokensIn } from '../format/opaque-tokens.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../format/message-format.js';
import { fixedIf, groupOfCalls, placed, placedInOrder } from '../format/placed.js';
import { plainData } from '../format/plain-data.js';
import { isUnsent, resultText } from './agent-message.js';
import type { PiMessage } from './agent-message.js';

interface Pinned {
  /** Estimated tokens of the message. */
  readonly pinnedTokens: number;
}

/** A message that pi sends to no model. */
const UNSENT: Pinned = { pinnedTokens: 0 };

export class AgentMessageReader implements MessageReader<PiMessage> {
  readonly #pairing = new CallPairing();
  /** Ids of calls in failed and aborted answers that no later answer has used again. */
  readonly #unsentCalls = new Set<string>();

  read(given: PiMessage, index: number, reading: Reading): void {
    const where = `message ${index}`;
    const message = asRecord(plainData(given, where));
    const role = asText(message?.['role']);
    if (message === undefined || role === undefined) {
      throw new TypeError(`Expected a message, an object with a role, at ${where}.`);
    }
    const read = this.#readMessage(role, message, index);
    if ('pinnedTokens' in read) reading.pinnedTokens += read.pinnedTokens;
    else if (read.blocks.length > 0)
      reading.entries.push({ ...read, metadata: { ...timeOf(message), ...read.metadata } });
  }

  #readMessage(role: string, message: JsonRecord, index: number): PlacedEntry | Pinned {
    switch (role) {
      case 'user':
        return { speaker: 'human', blocks: readParts(message['content'], index) };
      case 'assistant':
        return this.#readAssistant(message, index);
      case 'toolResult':
        return this.#readResult(message, index);
      case 'custom':
        return {
          speaker: 'human',
          blocks: readParts(message['content'], index),
          metadata: { synthetic: true },
        };
      case 'branchSummary':
      case 'compactionSummary': {
        const text = asText(message['summary']) ?? '';
        return {
          speaker: 'human',
          blocks: placedInOrder([{ type: 'text', text }], index),
          metadata: { isSummary: true },
        };
      }
      case 'bashExecution':
        return message['excludeFromContext'] === true ? UNSENT : readCommand(message, index);
      default:
        return { pinnedTokens: estimateOpaqueTokens(message) };
    }
  }

  #readAssistant(message: JsonRecord, index: number): PlacedEntry | Pinned {
    const parts = asArray(message['content']).map((part) => asRecord(part) ?? {});
    if (isUnsent({ role: 'assistant', stopReason: asText(message['stopReason']) ?? '' })) {
      for (const { type, id } of parts) {
        if (type === 'toolCall' && typeof id === 'string') this.#unsentCalls.add(id);
      }
      return UNSENT;
    }
    this.#pairing.beginStep();
    const group = groupOfCalls(
      parts.filter(({ type }) => type === 'toolCall').map(isSigned),
      index,
    );
    const blocks = parts.map((part, at): PlacedBlock => {
      if (part['type'] !== 'toolCall') return placed(readPart(part), index, at);
      const name = asText(part['name']) ?? '';
      const ownId = asText(part['id']);
      // Some servers number the calls of each answer alike.
      if (ownId !== undefined) this.#unsentCalls.delete(ownId);
      const id = this.#pairing.call({ id: ownId, name }, [index, at]);
      const call = toolCall(id, name, part['arguments'] ?? {});
      return placed({ ...call, ...group, ...fixedIf(isSigned(part)) }, index, at);
    });
    return { speaker: 'ai', blocks };
  }

  #readResult(message: JsonRecord, index: number): PlacedEntry | Pinned {
    const id = asFilledText(message['toolCallId']);
    if (id !== undefined && this.#unsentCalls.has(id)) return UNSENT;
    const content = message['content'];
    const name = asText(message['toolName']);
    const call = this.#pairing.answer({ id, name }, [index, 0], true);
    const outcome = {
      result: resultText(content),
      error: message['isError'] === true ? errorLine(content) : undefined,
      mediaTokens: mediaTokensIn(asArray(content), ({ type }) =>
        type === 'image' ? 'image/*' : undefined,
      ),
    };
    return { speaker: 'tool', blocks: [placed(answerBlock(call, outcome), index, 0)] };
  }
}

function isSigned(part: JsonRecord): boolean {
  return asFilledText(part['thoughtSignature']) !== undefined;
}

function readParts(content: unknown, index: number): readonly PlacedBlock[] {
  if (typeof content === 'string') return placedInOrder([{ type: 'text', text: content }], index);
  const blocks = asArray(content).map((part) => readPart(asRecord(part) ?? {}));
  return placedInOrder(blocks, index);
}

function readPart(part: JsonRecord): ContentBlock {
  const text = asText(part['text']);
  if (part['type'] === 'text' && text !== undefined) return { type: 'text', text };
  if (part['type'] === 'thinking') return readThinking(part);
  if (part['type'] === 'image') {
    return mediaBlock(asText(part['mimeType']) ?? 'image/*');
  }
  return opaqueBlockOf(asText(part['type']) ?? 'unknown', part);
}

function readThinking(part: JsonRecord): ContentBlock {
  const signature = asText(part['thinkingSignature']);
  if (part['redacted'] === true) {
    const encryptedContent = signature ?? '';
    return { type: 'thinking', thought: '', isHidden: true, encryptedContent };
  }
  return thinkingBlock(asText(part['thinking']) ?? '', { signature });
}

/** A command that the user ran, which pi formats for the model. */
function readCommand(message: JsonRecord, index: number): PlacedEntry {
  const shown = opaqueBlockOf('bashExecution', [message['command'], message['output']]);
  return { speaker: 'human', blocks: placedInOrder([shown], index) };
}

function timeOf(message: JsonRecord): ContentMetadata {
  const { timestamp } = message;
  return typeof timestamp === 'number' && Number.isFinite(timestamp) ? { timestamp } : {};
}
