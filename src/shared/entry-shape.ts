// What an entry and its blocks have to look like. Payloads are nobody's business here.

import type { ContentBlock } from './content.js';
import { refuse } from './misuse.js';

type Fields = readonly (readonly [name: string, type: 'string' | 'boolean' | 'number'])[];

interface BlockShape {
  readonly required: Fields;
  readonly optional: Fields;
}

const SHAPES: Readonly<Record<ContentBlock['type'], BlockShape>> = {
  text: { required: [['text', 'string']], optional: [] },
  tool_call: {
    required: [
      ['id', 'string'],
      ['name', 'string'],
    ],
    optional: [
      ['description', 'string'],
      ['parallelGroup', 'string'],
    ],
  },
  tool_response: {
    required: [
      ['callId', 'string'],
      ['toolName', 'string'],
    ],
    optional: [
      ['error', 'string'],
      ['isComplete', 'boolean'],
      ['mediaTokens', 'number'],
    ],
  },
  media: {
    required: [
      ['mimeType', 'string'],
      ['data', 'string'],
      ['encoding', 'string'],
    ],
    optional: [
      ['caption', 'string'],
      ['filename', 'string'],
    ],
  },
  thinking: {
    required: [['thought', 'string']],
    optional: [
      ['isHidden', 'boolean'],
      ['sourceField', 'string'],
      ['signature', 'string'],
      ['encryptedContent', 'string'],
    ],
  },
  code: { required: [['code', 'string']], optional: [['language', 'string']] },
  opaque: {
    required: [
      ['kind', 'string'],
      ['tokens', 'number'],
    ],
    optional: [['callId', 'string']],
  },
};

/** Refuses a block of no known type, and one whose fields are not of theirs. Payloads may be anything. */
export function assertBlock(block: Readonly<Record<string, unknown>>, where: string): void {
  const { type } = block;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) {
    refuse(`${where}.type`, `one of ${Object.keys(SHAPES).join(', ')}`, type);
  }
  const shape = SHAPES[type as ContentBlock['type']];
  for (const [key, expected] of shape.required) {
    if (typeof block[key] !== expected) refuse(`${where}.${key}`, `a ${expected}`, block[key]);
  }
  for (const [key, expected] of shape.optional) {
    const value = block[key];
    if (value !== undefined && typeof value !== expected) {
      refuse(`${where}.${key}`, `a ${expected} or nothing`, value);
    }
  }
  if (type === 'media' && block['encoding'] !== 'url' && block['encoding'] !== 'base64') {
    refuse(`${where}.encoding`, "'url' or 'base64'", block['encoding']);
  }
  const key = claimKeyOf(block);
  if (key !== undefined && !(Number.isInteger(block[key]) && Number(block[key]) >= 0)) {
    refuse(`${where}.${key}`, 'an integer of 0 or more', block[key]);
  }
}

/** The field in which a block says how many tokens it takes for what is not in it. */
export function claimKeyOf(block: Readonly<Record<string, unknown>>): string | undefined {
  if (block['type'] === 'opaque') return 'tokens';
  return block['mediaTokens'] === undefined || block['type'] !== 'tool_response'
    ? undefined
    : 'mediaTokens';
}

/** Refuses who is no speaker. */
export function assertSpeaker(speaker: unknown, where: string): void {
  if (speaker === 'human' || speaker === 'ai' || speaker === 'tool') return;
  refuse(`${where}.speaker`, "'human', 'ai' or 'tool'", speaker);
}
