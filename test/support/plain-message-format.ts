// A minimal message format, for tests of what all formats share.

import { isSameValue } from '../../src/adapters/format/same-value.js';
import type {
  MessageFormat,
  PartEdits,
  PlacedBlock,
  Reading,
} from '../../src/adapters/format/message-format.js';
import type { ContentBlock, IContent } from '../../src/shared/content.js';

export type PlainPart =
  | { readonly text: string; readonly mark?: string }
  | { readonly thought: string }
  | { readonly call: string; readonly name: string; readonly input: unknown }
  | { readonly answers: string; readonly name: string; readonly output: string }
  | { readonly unknown: string; readonly of?: string };

export interface PlainMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly parts: readonly PlainPart[];
}

export const user = (text: string): PlainMessage => ({ role: 'user', parts: [{ text }] });

export const assistant = (...parts: readonly (PlainPart | string)[]): PlainMessage => ({
  role: 'assistant',
  parts: parts.map((part) => (typeof part === 'string' ? { text: part } : part)),
});

export const system = (text: string): PlainMessage => ({ role: 'system', parts: [{ text }] });

export const call = (id: string, name: string, input: unknown = {}): PlainPart => {
  return { call: id, name, input };
};

export const answer = (id: string, name: string, output: string): PlainMessage => ({
  role: 'tool',
  parts: [{ answers: id, name, output }],
});

const SPEAKERS = { user: 'human', assistant: 'ai', tool: 'tool' } as const;

function blockOf(part: PlainPart): ContentBlock {
  if ('text' in part) return { type: 'text', text: part.text };
  if ('thought' in part) return { type: 'thinking', thought: part.thought };
  if ('call' in part) {
    return { type: 'tool_call', id: part.call, name: part.name, parameters: part.input };
  }
  if ('answers' in part) {
    const { answers: callId, name: toolName, output: result } = part;
    return { type: 'tool_response', callId, toolName, result, isComplete: true };
  }
  const { unknown: kind, of: callId } = part;
  return { type: 'opaque', kind, tokens: 1, ...(callId !== undefined && { callId }) };
}

function read({ role, parts }: PlainMessage, index: number, reading: Reading): void {
  if (role === 'system') {
    reading.pinnedTokens += 10;
    return;
  }
  if (!Object.hasOwn(SPEAKERS, role)) throw new TypeError(`Message ${index} is none.`);
  const blocks = parts.map((part, at): PlacedBlock => {
    return { ...blockOf(part), origin: [index, at] };
  });
  reading.entries.push({ speaker: SPEAKERS[role], blocks });
}

function rewrite({ role, parts }: PlainMessage, edits: PartEdits): PlainMessage {
  return {
    role,
    parts: parts.flatMap((part, index): PlainPart | [] => {
      const block = edits.get(index);
      if (block === undefined) return part;
      if (block?.type === 'text' && 'text' in part) return { ...part, text: block.text };
      if (block?.type === 'tool_response' && 'answers' in part) {
        return { ...part, output: String(block.result) };
      }
      return [];
    }),
  };
}

function write({ speaker, blocks }: IContent): PlainMessage {
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [{ text: block.text }] : []));
  return { role: speaker === 'ai' ? 'assistant' : 'user', parts: texts };
}

export const PLAIN_MESSAGE_FORMAT: MessageFormat<PlainMessage> = {
  createReader: () => ({ read }),
  isSame: isSameValue,
  rewrite,
  write,
};
