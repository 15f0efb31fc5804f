// Chooses the reasoning policy for Claude, by the model's name and by what a request says about thinking.

import { bindsReasoning, thinksWithBudget } from '../../main/models/model-limits.js';
import { plainModelName } from '../../main/models/model-name.js';
import { asRecord, isRecord } from '../../shared/json.js';
import type { CompactCall } from './adapter-options.js';

type Policy = NonNullable<CompactCall['reasoning']>;

/**
 * Returns the reasoning policy for a request to this model with this `thinking`; either may be unknown.
 *
 * Models that bind thinking to the messages before it (adaptive thinking, and thinking between tools) answer an edit of these messages
 * with status 400, so the thinking is removed. Thinking is kept with a budget (`type: 'enabled'`), because the last assistant turn must
 * start with thinking, and models that accept a budget bind nothing. It is also kept with `drop_block`, because the API itself then
 * drops thinking that no longer matches. Models that know budgets always keep it, because not every host says what it asks for. For
 * models that bind thinking, a budget in the options proves nothing: the AI SDK asks these for adaptive thinking instead.
 */
export function reasoningOfModel(modelName: string | undefined, thinking?: unknown): Policy {
  if (thinksWithBudget(modelName)) return 'keep';
  if (!isRecord(thinking)) return 'strip-after-first-edit';
  // The AI SDK has these names in camel case.
  const { type, blockBinding, block_binding: binding = blockBinding } = thinking;
  const { prefixMismatchBehavior, prefix_mismatch_behavior: behavior = prefixMismatchBehavior } =
    asRecord(binding) ?? {};
  const hasBudget = type === 'enabled' && !bindsReasoning(modelName);
  return hasBudget || behavior === 'drop_block' ? 'keep' : 'strip-after-first-edit';
}

/** Returns the policy where a host does not tell `thinking`: only for Claude models that are known to bind it, else `undefined`. */
export function reasoningOfHosted(modelName: string | undefined): Policy | undefined {
  const isClaude = plainModelName(modelName ?? '').startsWith('claude-');
  return isClaude && bindsReasoning(modelName) ? 'strip-after-first-edit' : undefined;
}
