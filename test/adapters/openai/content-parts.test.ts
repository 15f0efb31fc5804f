import { describe, expect, it } from 'vitest';
import {
  readContent,
  readFunctionOutput,
  rewriteOutput,
} from '../../../src/adapters/openai/content-parts.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';

describe('readContent', () => {
  it('reads a list without parts as a block, so that its message has an entry', () => {
    expect(readContent([], 'message 0')).toEqual([{ type: 'opaque', kind: 'empty', tokens: 0 }]);
  });
});

describe('readFunctionOutput', () => {
  it('joins parts that are all text', () => {
    const parts = [
      { type: 'input_text', text: 'a' },
      { type: 'input_text', text: 'b' },
    ];
    expect(readFunctionOutput(parts).result).toBe('a\nb');
    expect(readFunctionOutput({ type: 'text', text: 'a' }).result).toBe('a');
  });
});

describe('rewriteOutput', () => {
  it('replaces a list by one text, in the form of its texts', () => {
    const picture = { type: 'input_image', image_url: 'https://a' };
    const text = { type: 'text', text: 'long', providerData: { a: 1 } };
    const given = [picture, text, { type: 'text', text: 'longer' }];
    expect(rewriteOutput(given, 'short', 'input_text')).toEqual([{ ...text, text: 'short' }]);
    expect(rewriteOutput([picture], 'short', 'input_text')).toEqual([
      { type: 'input_text', text: 'short' },
    ]);
  });
});

describe('mediaTokens of readFunctionOutput', () => {
  it.each([
    ['a text', 'a', 0],
    ['a part that is a text', { type: 'text', text: 'a' }, 0],
    ['an object of another kind', { stdout: 'a', type: 7 }, 0],
    ['a picture alone', { type: 'image', image: 'https://a' }, IMAGE_TOKENS],
    [
      'pictures and a file among texts',
      [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', image_url: 'https://a' },
        { type: 'image_url', image_url: { url: 'https://a' } },
        { type: 'input_file', file_data: 'AAAA', filename: 'a.pdf' },
      ],
      2 * IMAGE_TOKENS + OTHER_MEDIA_TOKENS,
    ],
  ])('counts %s', (_, output, tokens) => {
    expect(readFunctionOutput(output).mediaTokens ?? 0).toBe(tokens);
  });
});

describe('error of readFunctionOutput', () => {
  it.each([
    'Error: there is no file a.ts.',
    'Traceback (most recent call last):\n  File "a.py"',
    '{"error":"no such file"}',
    'TypeError: x is not a function',
    'An error occurred while running the tool. Please try again.',
    'apply_patch verification failed: the context does not match',
    'Exit code: 1\nWall time: 0 seconds\nOutput:\nfatal',
  ])('recognizes "%s" as a failure', (output) => {
    expect(readFunctionOutput(output).error).toBe(output.split('\n')[0]);
  });

  it.each([
    'Wrote 12 characters to error.ts.',
    'Done! Success. Updated the following files:\nM a.ts',
    'Exit code: 0\nOutput:\nError: is only what it prints',
    'import { Error } from "./error.js";',
    '',
  ])('does not treat "%s" as a failure', (output) => {
    expect(readFunctionOutput(output).error).toBeUndefined();
  });

  it('treats only texts as failures', () => {
    expect(readFunctionOutput([{ type: 'image' }]).error).toBeUndefined();
  });
});
