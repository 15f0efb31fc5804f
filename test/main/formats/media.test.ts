import { describe, expect, it } from 'vitest';
import { mediaBlock, withoutMedia } from '../../../src/main/formats/media.js';
import { readJson, readLines } from './reading.js';

const PNG = { type: 'media', mimeType: 'image/png', data: 'AA==', encoding: 'base64' };
const LINK = { type: 'media', mimeType: 'image/*', data: 'https://host/a', encoding: 'url' };

describe('mediaBlock', () => {
  it('prefers data, and takes it from a URL', () => {
    expect(mediaBlock('image/png', 'AA==', 'https://host/a')).toEqual(PNG);
    expect(mediaBlock('image/*', undefined, 'data:image/png;base64,AA==')).toEqual(PNG);
    expect(mediaBlock('image/*', 3, 'https://host/a')).toEqual(LINK);
    expect(mediaBlock('image/*', undefined, 3)).toBeUndefined();
  });
});

describe('pictures of all formats', () => {
  const url = 'data:image/png;base64,AA==';
  const user = (content: unknown) => ({ role: 'user', content });

  it.each([
    ['codex', [{ type: 'input_image', image_url: url }]],
    ['openai-chat', [{ type: 'image_url', image_url: { url } }]],
    ['cline', [{ type: 'image', source: { data: 'AA==', media_type: 'image/png' } }]],
  ] as const)('become blocks: %s', async (format, content) => {
    const { entries } =
      format === 'codex'
        ? await readLines([{ type: 'message', ...user(content) }], format)
        : await readJson([user(content)], format);
    expect(entries.map(({ blocks }) => blocks)).toEqual([[PNG]]);
  });

  it.each([
    [{ inlineData: { data: 'AA==', mimeType: 'image/png' } }, [[PNG]], []],
    [{ fileData: { fileUri: 'https://host/a', mimeType: 'image/*' } }, [[LINK]], []],
    [{ executableCode: {} }, [], ['message parts that are neither text nor media left out: 1']],
  ])('are parts of a content of Gemini: %j', async (part, blocks, messages) => {
    const { entries, warnings } = await readJson([{ role: 'user', parts: [part] }]);
    expect(entries.map((entry) => entry.blocks)).toEqual(blocks);
    expect(warnings.map(({ message }) => message)).toEqual(messages);
  });

  it.each([
    [
      { type: 'document', source: { type: 'text', data: 'plain' } },
      [{ type: 'text', text: 'plain' }],
    ],
    [
      { type: 'document', title: 'a.pdf', source: { url: 'https://host/a' } },
      [{ ...LINK, mimeType: 'application/octet-stream', filename: 'a.pdf' }],
    ],
    [{ type: 'image', source: {} }, []],
  ])('are documents of Anthropic: %j', async (block, blocks) => {
    const { entries } = await readJson([user([block])], 'cline');
    expect(entries.flatMap((entry) => entry.blocks)).toEqual(blocks);
  });
});

describe('pictures in results', () => {
  const data = 'iVBORw0KGgo='.repeat(10_000);
  const url = `data:image/png;base64,${data}`;
  const text = { type: 'text', text: 'Page 1' };
  const source = { type: 'base64', media_type: 'image/png', data };
  const call = { id: 'a', type: 'function', function: { name: 'shoot', arguments: '{}' } };
  const used = { type: 'tool_use', id: 'a', name: 'shoot', input: {} };
  const answered = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'a', content });

  it.each([
    [
      'openai-chat',
      [
        { role: 'assistant', tool_calls: [call] },
        {
          role: 'tool',
          tool_call_id: 'a',
          content: [text, { type: 'image_url', image_url: { url } }],
        },
      ],
    ],
    [
      'cline',
      [
        { role: 'assistant', content: [used] },
        { role: 'user', content: [answered([text, { type: 'image', source }])] },
      ],
    ],
    [
      'gemini-cli',
      [
        { role: 'model', parts: [{ functionCall: { name: 'shoot', args: {} } }] },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                name: 'shoot',
                response: [text, { inlineData: { mimeType: 'image/png', data } }],
              },
            },
          ],
        },
      ],
    ],
    [
      'gemini-cli',
      [
        { role: 'model', parts: [{ functionCall: { name: 'shoot', args: {} } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'shoot', response: { output: 'Page 1' } } },
            { inlineData: { mimeType: 'image/png', data } },
          ],
        },
      ],
    ],
    [
      'gemini-cli',
      {
        sessionId: 's',
        messages: [
          {
            type: 'gemini',
            content: '',
            toolCalls: [
              {
                id: 'a',
                name: 'shoot',
                args: {},
                status: 'success',
                result: [
                  { functionResponse: { id: 'a', name: 'shoot', response: { output: 'Page 1' } } },
                  { inlineData: { mimeType: 'image/png', data } },
                ],
              },
            ],
          },
        ],
      },
    ],
  ] as const)('count as pictures, and their base64 is no text: %s', async (format, messages) => {
    const { entries } = await readJson(messages, format);
    expect(entries.at(-1)?.blocks).toMatchObject([
      { type: 'tool_response', result: 'Page 1\n[image]', mediaTokens: 1_600 },
    ]);
  });

  it.each([
    [{ type: 'input_image', image_url: url }, '[image]', 1_600],
    [{ type: 'image', data, mimeType: 'image/png' }, '[image]', 1_600],
    [{ fileData: { fileUri: 'gs://a', mimeType: 'video/mp4' } }, '[file]', 3_000],
    [{ type: 'document', source: { ...source, media_type: 'application/pdf' } }, '[file]', 3_000],
  ])('count in each form', (part, result, mediaTokens) => {
    expect(withoutMedia([part])).toEqual({ result, mediaTokens });
  });

  it.each([
    'text',
    [text],
    [{ type: 'file', path: 'a.ts' }],
    [{ type: 'file', name: 'a.ts', data: 'a text' }],
    [{ type: 'file', name: 'a.pdf', url: 'https://host/a.pdf' }],
    [{ type: 'document', source: { type: 'text', data: 'plain' } }],
  ])('leaves what is none as it is: %j', (result) => {
    expect(withoutMedia(result)).toEqual({ result });
  });

  it('stay next to parts that are no text', () => {
    const other = { type: 'search_result', title: 'a' };
    expect(withoutMedia([other, { type: 'image', source }])).toEqual({
      result: [other, '[image]'],
      mediaTokens: 1_600,
    });
  });
});
