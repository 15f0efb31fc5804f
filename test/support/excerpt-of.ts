// The excerpt of a result outside of any history.

import { toolResponse } from '../../src/shared/content.js';
import { excerptOfBlock } from '../../src/shared/density/index/excerpt.js';

/** The replacement of a result: the placeholder, and the names in the result. */
export function excerptOf(
  result: unknown,
  placeholder: string,
  tool = 'run',
  error?: string,
): string {
  return excerptOfBlock(toolResponse('c1', tool, result, error), placeholder);
}
