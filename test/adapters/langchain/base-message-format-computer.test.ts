// How the use of OpenAI's computer tool is read as entries.

import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage, MessageContent } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { baseMessageFormat as format } from '../../../src/adapters/langchain/base-message-format.js';
import type { OpaqueBlock } from '../../../src/shared/content.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { aiMessageOf } from './arbitrary-base-messages.js';
import { readAll } from '../../support/read-all.js';

const CALL = { id: 'c1', name: 'read_file', args: {}, type: 'tool_call' } as const;

/** The speaker and blocks of each entry. */
function read(...messages: readonly BaseMessage[]): unknown[][] {
  const { entries } = readAll(format.createReader(), messages, 0);
  return entries.map(({ speaker, blocks }) => [speaker, ...blocks]);
}

describe('baseMessageFormat', () => {
  it.each<[string, object]>([
    ['as the SDK marks it', { tool_calls: [{ ...CALL, isComputerTool: true }] }],
    [
      'as a stream marks it',
      { tool_calls: [CALL], additional_kwargs: { tool_outputs: [{ type: 'computer_call' }] } },
    ],
  ])('reads the use of a computer as one entry of opaque blocks, %s', (_, fields) => {
    const called = aiMessageOf({ content: 'I look.', ...fields });
    const shown = new ToolMessage({ content: 'data:,', tool_call_id: 'c1' });
    expect(read(called, shown, new HumanMessage('So?'))).toMatchObject([
      ['ai', { type: 'text', text: 'I look.' }, { type: 'opaque' }, { type: 'opaque' }],
      ['human', { type: 'text' }],
    ]);
    expect(read(called, new HumanMessage('So?'), shown)).toMatchObject([['human', {}]]);
    expect(read(called)).toEqual([]);
  });

  it.each<[string, MessageContent]>([
    ['a text', 'data:image/png;base64,'.padEnd(99_999, 'A')],
    ['a block', [{ type: 'computer_screenshot', image_url: 'A'.repeat(99_999) }] as never],
  ])('counts a screenshot as one image, if it is %s', (_, content) => {
    const called = aiMessageOf({ content: '', tool_calls: [{ ...CALL, isComputerTool: true }] });
    const shown = new ToolMessage({ content, tool_call_id: 'c1' });
    const [[, ...parts] = []] = read(called, shown) as readonly (readonly OpaqueBlock[])[];
    const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
    expect(tokens).toBeGreaterThanOrEqual(IMAGE_TOKENS);
    expect(tokens).toBeLessThan(IMAGE_TOKENS + 50);
  });
});
