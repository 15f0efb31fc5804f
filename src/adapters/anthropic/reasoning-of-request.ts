// What a request says about the reasoning in it: whether an edit before a thinking block is refused.

import type { CompactCall } from '../adapter-options.js';
import { isRecord } from '../../shared/json.js';

/**
 * Returns what is to be done with reasoning once something before it has been edited.
 *
 * Models whose thinking is bound to the messages before it (adaptive thinking, and between tools) answer
 * such an edit with status 400, so it goes. `keep` where it must stay or may: with a budget
 * (`type: 'enabled'`), the last assistant turn has to start with thinking, and the models that take a
 * budget bind nothing; with `drop_block` the API itself leaves out what no longer fits.
 */
export function reasoningOfRequest(thinking: unknown): NonNullable<CompactCall['reasoning']> {
  if (!isRecord(thinking)) return 'strip-after-first-edit';
  const { type, block_binding: binding } = thinking;
  const drops = isRecord(binding) && binding['prefix_mismatch_behavior'] === 'drop_block';
  return type === 'enabled' || drops ? 'keep' : 'strip-after-first-edit';
}
