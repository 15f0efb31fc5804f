// What becomes of a response when another result takes the place of its own.

import { describe, expect, it } from 'vitest';
import { toolResponse, withResult } from '../../src/shared/content.js';

describe('withResult', () => {
  const response = {
    ...toolResponse('c1', 'shot', 'a page\n[image]', 'it failed'),
    mediaTokens: 9,
  };

  it('takes away the media of the result that goes, and nothing else', () => {
    expect(withResult(response, 'short')).toEqual(toolResponse('c1', 'shot', 'short', 'it failed'));
    expect('mediaTokens' in withResult(response, 'short')).toBe(false);
  });

  it('leaves the response that it was given alone', () => {
    withResult(Object.freeze(response), null);
    expect(response.mediaTokens).toBe(9);
  });
});
