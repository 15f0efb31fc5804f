// Redacted names.

import { describe, expect, test } from 'vitest';
import { createRedactedLabel, PLAIN_LABEL } from '../../../src/cli/terminal/content-label.js';

describe('createRedactedLabel', () => {
  const label = createRedactedLabel(Buffer.from('key'));

  test('replaces a path by a tag and its extension', () => {
    expect(label.ofPath('/home/somebody/secret.test.ts')).toMatch(/^#[0-9a-f]{6}\.ts$/);
    expect(label.ofPath('secret')).toMatch(/^#[0-9a-f]{6}$/);
    expect(label.ofPath('a.ts +2')).toMatch(/^#[0-9a-f]{6}\.ts \+2$/);
  });

  test('gives the same path the same tag, within one report only', () => {
    expect(label.ofPath('a.ts')).toBe(label.ofPath('a.ts'));
    expect(label.ofPath('a.ts')).not.toBe(label.ofPath('b.ts'));
    expect(createRedactedLabel().ofPath('a.ts')).not.toBe(createRedactedLabel().ofPath('a.ts'));
  });

  test('hides parameters', () => {
    expect(label.ofCall({ path: null, excerpt: 'cat secret' })).toBe('');
  });
});

describe('PLAIN_LABEL', () => {
  test('names the path, or else the parameter', () => {
    expect(PLAIN_LABEL.ofCall({ path: 'a.ts', excerpt: null })).toBe('a.ts');
    expect(PLAIN_LABEL.ofCall({ path: null, excerpt: 'ls' })).toBe('ls');
  });
});
