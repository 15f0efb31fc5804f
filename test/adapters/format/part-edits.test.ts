// Edits of the content of messages, in any format.

import { describe, expect, it } from 'vitest';

import { toolCall } from '../../../src/shared/content.js';
import type { ContentBlock } from '../../../src/shared/content.js';
import { editedContent, withText } from '../../../src/adapters/format/part-edits.js';

describe('editedContent', () => {
  it('returns unedited content as it is', () => {
    const parts = [{ type: 'text', text: 'a' }];
    expect(editedContent(parts, new Map([[7, null]]))).toBe(parts);
    expect(editedContent('a', new Map([[7, null]]))).toBe('a');
  });

  it('counts parts from the given first index', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    expect(editedContent(parts, new Map([[3, null]]), withText, 2)).toEqual([parts[0]]);
    expect(editedContent('a', new Map([[2, null]]), withText, 2)).toBeUndefined();
    expect(editedContent([parts[0]], new Map([[0, null]]))).toBeUndefined();
  });

  it('edits texts, also plain strings in a list, and leaves a call whose arguments are edited', () => {
    const call = { type: 'tool_use', id: 'c', input: {} };
    const edits = new Map<number, ContentBlock>([
      [0, { type: 'text', text: 'b' }],
      [1, { type: 'text', text: 'b' }],
      [2, toolCall('c', 'write', { text: 'short' })],
    ]);
    const parts = ['a', { type: 'text', text: 'a', mark: 1 }, call];
    const edited = editedContent(parts, edits) as readonly unknown[];
    expect(edited).toEqual(['b', { type: 'text', text: 'b', mark: 1 }, call]);
    expect(edited[2]).toBe(call);
    expect(editedContent('a long one', edits)).toBe('b');
  });
});
