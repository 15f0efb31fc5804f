// What options may be set to. Stands here once more, held to the public types by the compiler, because
// loading the public API for a help text takes longer than all else about it.

import type { OffloadMode } from '../../../index.js';
import type { OwnStrategyName } from '../../../strategies.js';

/** One left out, or one too many, does not compile. */
function choicesOf<Choice extends string>(choices: Readonly<Record<Choice, true>>): Choice[] {
  return Object.keys(choices) as Choice[];
}

/** The compression strategies. */
export const STRATEGY_CHOICES: readonly OwnStrategyName[] = choicesOf<OwnStrategyName>({
  'middle-out': true,
  'top-down-truncation': true,
  'one-shot': true,
  'high-density': true,
});

/** Where work may run. */
export const OFFLOAD_CHOICES: readonly OffloadMode[] = choicesOf<OffloadMode>({
  auto: true,
  resident: true,
  snapshot: true,
  inline: true,
});
