import { describe, expect, it } from 'vitest';
import { mediaBlock } from '../../../src/main/formats/content-parts.js';
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
