// The required shape of blocks, as a table of fields. Does not check payloads (`parameters`, `result`).

import type { ContentBlock } from './content.js';
import { refuse } from './misuse.js';

interface Field {
  readonly key: string;
  readonly expected: 'string' | 'boolean' | 'number';
  readonly isOptional: boolean;
}

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
    { description: 'string', parallelGroup: 'string', hasFixedParameters: 'boolean' },
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
  opaque: fields({ kind: 'string', tokens: 'number' }, { callId: 'string', provider: 'string' }),
};

/** @throws TypeError for a block of unknown type, or with a missing field or one of the wrong type. */
export function assertBlock(block: Readonly<Record<string, unknown>>, where: string): void {
  const { type } = block;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) {
    refuse(`${where}.type`, `one of ${Object.keys(SHAPES).join(', ')}`, type);
  }
  const shape = SHAPES[type as ContentBlock['type']];
  // An indexed loop, because this runs for each new block.
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
  const key = tokensKeyOf(block);
  if (key !== undefined && !(Number.isInteger(block[key]) && Number(block[key]) >= 0)) {
    refuse(`${where}.${key}`, 'an integer of 0 or more', block[key]);
  }
}

/** The field, if any, in which a block declares the tokens of content that it does not contain. */
export function tokensKeyOf(block: Readonly<Record<string, unknown>>): string | undefined {
  const { type } = block;
  if (type === 'opaque') return 'tokens';
  // Only responses may have this field, so other blocks are not searched for it.
  return type === 'tool_response' && block['mediaTokens'] !== undefined ? 'mediaTokens' : undefined;
}

/** @throws TypeError for an unknown speaker. */
export function assertSpeaker(speaker: unknown, where: string): void {
  if (speaker === 'human' || speaker === 'ai' || speaker === 'tool') return;
  refuse(`${where}.speaker`, "'human', 'ai' or 'tool'", speaker);
}
