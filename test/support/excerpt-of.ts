// The excerpt of a result that no history holds.

import { toolResponse } from '../../src/shared/content.js';
import { excerptOfBlock } from '../../src/shared/density/index/excerpt.js';

/** The replacement of a result: the placeholder, and what the result names. */
export function excerptOf(
  result: unknown,
  placeholder: string,
  tool = 'run',
  error?: string,
): string {
  return excerptOfBlock(toolResponse('c1', tool, result, error), placeholder);
}
