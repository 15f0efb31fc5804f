// What an entry and its blocks have to look like. Payloads are nobody's business here.

import type { ContentBlock } from './content.js';
import { refuse } from './misuse.js';

interface Field {
  readonly key: string;
  readonly expected: 'string' | 'boolean' | 'number';
  readonly isOptional: boolean;
}

/** Fields by name: those that a block must have, then those that it may have. */
function fields(
  required: Readonly<Record<string, Field['expected']>>,
  optional: Readonly<Record<string, Field['expected']>> = {},
): readonly Field[] {
  const listed = (some: typeof required, isOptional: boolean): Field[] =>
    Object.entries(some).map(([key, expected]) => ({ key, expected, isOptional }));
  return [...listed(required, false), ...listed(optional, true)];
}

const SHAPES: Readonly<Record<ContentBlock['type'], readonly Field[]>> = {
  text: fields({ text: 'string' }),
  tool_call: fields(
    { id: 'string', name: 'string' },
    { description: 'string', parallelGroup: 'string' },
  ),
  tool_response: fields(
    { callId: 'string', toolName: 'string' },
    { error: 'string', isComplete: 'boolean', mediaTokens: 'number' },
  ),
  media: fields(
    { mimeType: 'string', data: 'string', encoding: 'string' },
    { caption: 'string', filename: 'string' },
  ),
  thinking: fields(
    { thought: 'string' },
    {
      isHidden: 'boolean',
      sourceField: 'string',
      signature: 'string',
      encryptedContent: 'string',
    },
  ),
  code: fields({ code: 'string' }, { language: 'string' }),
  opaque: fields({ kind: 'string', tokens: 'number' }, { callId: 'string' }),
};

/** Refuses a block of no known type, and one whose fields are not of theirs. Payloads may be anything. */
export function assertBlock(block: Readonly<Record<string, unknown>>, where: string): void {
  const { type } = block;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) {
    refuse(`${where}.type`, `one of ${Object.keys(SHAPES).join(', ')}`, type);
  }
  const shape = SHAPES[type as ContentBlock['type']];
  // By index: it is asked of each block that comes in.
  for (let at = 0; at < shape.length; at += 1) {
    const field = shape[at];
    if (field === undefined) continue;
    const { key, expected, isOptional } = field;
    const value = block[key];
    if (typeof value === expected || (isOptional && value === undefined)) continue;
    refuse(`${where}.${key}`, `a ${expected}${isOptional ? ' or nothing' : ''}`, value);
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
  const { type } = block;
  if (type === 'opaque') return 'tokens';
  // A field that most blocks do not have is looked for in no more of them than can.
  return type === 'tool_response' && block['mediaTokens'] !== undefined ? 'mediaTokens' : undefined;
}

/** Refuses who is no speaker. */
export function assertSpeaker(speaker: unknown, where: string): void {
  if (speaker === 'human' || speaker === 'ai' || speaker === 'tool') return;
  refuse(`${where}.speaker`, "'human', 'ai' or 'tool'", speaker);
}
