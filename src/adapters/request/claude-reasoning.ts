// Decides what an edit does to the reasoning of Claude, by its name and by what a request says about thinking.

import { bindsReasoning, thinksWithBudget } from '../../main/models/model-limits.js';
import { plainModelName } from '../../main/models/model-name.js';
import { asRecord, isRecord } from '../../shared/json.js';
import type { CompactCall } from './adapter-options.js';

type Policy = NonNullable<CompactCall['reasoning']>;

/**
 * Returns the reasoning policy for a request to this model with this `thinking`, as far as they are known.
 *
 * Models that bind thinking to the messages before it (adaptive thinking, and between tools) reject an edit of those
 * with status 400, so the thinking is removed. It is kept with a budget (`type: 'enabled'`), because the last assistant turn must
 * start with thinking, and models that accept a budget bind nothing; and with `drop_block`, because the API itself drops
 * thinking that no longer matches. Models that know budgets keep it in any case: not every host says what it asks for. Of models
 * that bind it, a budget says nothing: the AI SDK asks these for adaptive thinking instead.
 */
export function reasoningOfModel(modelName: string | undefined, thinking?: unknown): Policy {
  if (thinksWithBudget(modelName)) return 'keep';
  if (!isRecord(thinking)) return 'strip-after-first-edit';
  // The AI SDK has it in camel case.
  const { type, blockBinding, block_binding: binding = blockBinding } = thinking;
  const { prefixMismatchBehavior, prefix_mismatch_behavior: behavior = prefixMismatchBehavior } =
    asRecord(binding) ?? {};
  const hasBudget = type === 'enabled' && !bindsReasoning(modelName);
  return hasBudget || behavior === 'drop_block' ? 'keep' : 'strip-after-first-edit';
}

/** The same for hosts that say nothing of `thinking`: only for models that are known to bind it. */
export function reasoningOfHosted(modelName: string | undefined): Policy | undefined {
  const isClaude = plainModelName(modelName ?? '').startsWith('claude-');
  return isClaude && bindsReasoning(modelName) ? 'strip-after-first-edit' : undefined;
}
