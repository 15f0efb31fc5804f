// A response whose result is replaced.

import { describe, expect, it } from 'vitest';
import { toolResponse, withResult } from '../../src/shared/content.js';

describe('withResult', () => {
  const response = {
    ...toolResponse('c1', 'shot', 'a page\n[image]', 'it failed'),
    mediaTokens: 9,
  };

  it('removes the media of the former result, and nothing else', () => {
    expect(withResult(response, 'short')).toEqual(toolResponse('c1', 'shot', 'short', 'it failed'));
    expect('mediaTokens' in withResult(response, 'short')).toBe(false);
  });

  it('does not modify the given response', () => {
    withResult(Object.freeze(response), null);
    expect(response.mediaTokens).toBe(9);
  });
});
