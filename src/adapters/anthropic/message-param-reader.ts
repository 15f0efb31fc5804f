// Reads the messages of one conversation with Anthropic's Messages API as entries. A user message with both answers to calls and
// other content becomes two entries.

import { isRecord } from '../../shared/json.js';
import type { Speaker } from '../../shared/content.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../message-format.js';
import { placed } from '../placed.js';
import { plainData } from '../plain-data.js';
import {
  answeredIdOf,
  callIdOf,
  estimatePartTokens,
  isMessagePart,
  isUntouchable,
} from './message-part.js';
import type { MessagePart } from './message-part.js';
import { readPart } from './read-part.js';

/** Reads messages, and remembers their calls. */
export class MessageParamReader implements MessageReader<unknown> {
  /** Names of tools by the ids of calls. */
  readonly #toolNames = new Map<string, string>();
  /** Calls in pinned messages: messages that answer them are pinned, too. */
  readonly #pinnedCalls = new Set<string>();

  read(messages: readonly unknown[], firstIndex: number): Reading {
    const entries: PlacedEntry[] = [];
    let pinnedTokens = 0;
    for (const [at, message] of messages.entries()) {
      const index = firstIndex + at;
      const { role, parts } = partsOf(message, index);
      if (this.#isPinned(role, parts)) {
        pinnedTokens += this.#pin(parts);
      } else {
        entries.push(...this.#readMessage(role, parts, index));
      }
    }
    return { entries, pinnedTokens };
  }

  #isPinned(role: string, parts: readonly MessagePart[]): boolean {
    if (role !== 'user' && role !== 'assistant') return true;
    return (
      isUntouchable(parts) || parts.some((part) => this.#pinnedCalls.has(answeredIdOf(part) ?? ''))
    );
  }

  #pin(parts: readonly MessagePart[]): number {
    let tokens = 0;
    for (const part of parts) {
      const id = callIdOf(part);
      if (id !== undefined) this.#pinnedCalls.add(id);
      tokens += estimatePartTokens(part);
    }
    return tokens;
  }

  #readMessage(role: string, parts: readonly MessagePart[], index: number): readonly PlacedEntry[] {
    const own: PlacedBlock[] = [];
    const responses: PlacedBlock[] = [];
    for (const [at, part] of parts.entries()) {
      const block = readPart(part, this.#toolNames);
      if (block.type === 'tool_call') this.#toolNames.set(block.id, block.name);
      const list = block.type === 'tool_response' && role === 'user' ? responses : own;
      list.push(placed(block, index, at));
    }
    return [...entryOf('tool', responses), ...entryOf(role === 'user' ? 'human' : 'ai', own)];
  }
}

function entryOf(speaker: Speaker, blocks: readonly PlacedBlock[]): readonly PlacedEntry[] {
  return blocks.length === 0 ? [] : [{ speaker, blocks }];
}

interface RoleAndParts {
  readonly role: string;
  readonly parts: readonly MessagePart[];
}

function partsOf(given: unknown, index: number): RoleAndParts {
  const message = plainData(given, `message ${index}`);
  const { role, content } = isRecord(message) ? message : {};
  if (typeof role !== 'string') {
    throw new TypeError(`Expected a message { role, content } at message ${index}.`);
  }
  if (typeof content === 'string') return { role, parts: [{ type: 'text', text: content }] };
  // A system message may change settings only.
  if (role === 'system' && (content === undefined || content === null)) return { role, parts: [] };
  if (!Array.isArray(content)) {
    throw new TypeError(`Expected a text or a list of parts as the content of message ${index}.`);
  }
  const parts = content.map((part: unknown, at) => {
    if (isMessagePart(part)) return part;
    throw new TypeError(`Expected a part with a type at message ${index}, part ${at}.`);
  });
  return { role, parts };
}
