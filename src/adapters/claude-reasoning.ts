// Decides what an edit does to the reasoning of Claude, by its name and by what a request says about thinking.

import { thinksWithBudget } from '../main/models/model-limits.js';
import { isRecord } from '../shared/json.js';
import type { CompactCall } from './adapter-options.js';

type Policy = NonNullable<CompactCall['reasoning']>;

/**
 * Returns the reasoning policy for a request with this `thinking`.
 *
 * Models that bind thinking to the messages before it (adaptive thinking, and between tools) reject an edit of those
 * with status 400, so the thinking is removed. It is kept with a budget (`type: 'enabled'`), because the last assistant turn must
 * start with thinking, and models that accept a budget bind nothing; and with `drop_block`, because the API itself drops
 * thinking that no longer matches.
 */
export function reasoningOfRequest(thinking: unknown): Policy {
  if (!isRecord(thinking)) return 'strip-after-first-edit';
  const { type, block_binding: binding } = thinking;
  const drops = isRecord(binding) && binding['prefix_mismatch_behavior'] === 'drop_block';
  return type === 'enabled' || drops ? 'keep' : 'strip-after-first-edit';
}

/**
 * The same where not all of a request can be seen: models that only know budgets keep their reasoning.
 *
 * @param thinking the request's option, if it is known
 */
export function reasoningOfModel(modelName: string | undefined, thinking?: unknown): Policy {
  return thinksWithBudget(modelName) ? 'keep' : reasoningOfRequest(thinking);
}
