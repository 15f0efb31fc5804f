// How the use of OpenAI's computer tool is read, and what remains of a screenshot.

import { ToolMessage } from '@langchain/core/messages';
import type { MessageContent } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { REMOVED_SCREENSHOT, SCREENSHOT } from '../../../src/adapters/format/screenshot.js';
import { baseMessageFormat as format } from '../../../src/adapters/langchain/base-message-format.js';
import { aiMessageOf } from './arbitrary-base-messages.js';
import { readAll } from '../../support/read-all.js';

const CALL = { id: 'c1', name: 'computer_use', args: {}, type: 'tool_call' } as const;
const PICTURE = 'data:image/png;base64,'.padEnd(99_999, 'A');
const REMOVED = { type: 'tool_response', callId: 'c1', toolName: 'x', result: 'gone' } as const;

describe('baseMessageFormat', () => {
  it.each<[string, MessageContent, unknown]>([
    ['a text', PICTURE, REMOVED_SCREENSHOT],
    [
      'a screenshot',
      [{ type: 'computer_screenshot', image_url: PICTURE, detail: 'original' }] as never,
      [{ type: 'computer_screenshot', image_url: REMOVED_SCREENSHOT, detail: 'original' }],
    ],
    [
      'a file',
      [{ type: 'input_image', file_id: 'f1' }] as never,
      [{ type: 'input_image', image_url: REMOVED_SCREENSHOT }],
    ],
    [
      'an image beside a text',
      [
        { type: 'text', text: 'Here.' },
        { type: 'image_url', image_url: { url: PICTURE } },
      ],
      [
        { type: 'text', text: 'Here.' },
        { type: 'image_url', image_url: { url: REMOVED_SCREENSHOT } },
      ],
    ],
  ])('reads a screenshot, %s, as one image, and leaves a picture', (_, content, expected) => {
    const extra = { additional_kwargs: { type: 'computer_call_output' } };
    const shown = new ToolMessage({ content, tool_call_id: 'c1', ...extra });
    const called = aiMessageOf({ content: 'I look.', tool_calls: [CALL] });
    expect(readAll(format.createReader(), [called, shown], 0).entries).toMatchObject([
      { speaker: 'ai', blocks: [{ type: 'text' }, { type: 'tool_call', name: 'computer_use' }] },
      { speaker: 'tool', blocks: [{ callId: 'c1', toolName: 'computer_use', ...SCREENSHOT }] },
    ]);
    const rewritten = format.rewrite(shown, new Map([[0, REMOVED]]));
    expect(rewritten.content).toEqual(expected);
    expect(rewritten).toMatchObject({ tool_call_id: 'c1', ...extra });
  });
});
