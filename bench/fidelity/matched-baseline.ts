// Pruning without a thought, to compare with: before each call, as many tokens of results go as a policy has let go of by
// then, by chance or the oldest first. What a policy keeps above that is its merit.

import { PRUNED_POINTER } from '../../src/index.js';
import type { IContent } from '../../src/index.js';
import { estimateResultTokens } from '../../src/shared/tokens/estimate.js';
import { seededRandom } from '../support/seeded-random.js';
import { entryTokens } from './context-meter.js';
import type { Policy } from './policies.js';
import { droppingResults } from './results-in-context.js';
import type { ContextState, ResultInContext } from './results-in-context.js';

const SEED = 1;
const POINTER_TOKENS = estimateResultTokens({ result: PRUNED_POINTER });

/**
 * The policy that sends, at each call, about as many tokens as another one does. It takes results that the model was sent
 * at least once. The last one that it takes may be too much: whether it goes is left to chance, so that none is on average.
 */
export function matchedBaseline(name: string, order: 'random' | 'oldest', like: Policy): Policy {
  return {
    name,
    start: (session) => {
      const random = seededRandom(SEED);
      const sendLike = like.start(session);
      let target = 0;
      const send = droppingResults(session.transcript, (state) =>
        toDrop(state, tokensOf(state.context) - target, order, random),
      );
      return (added) => {
        target = tokensOf(sendLike(added));
        return send(added);
      };
    },
  };
}

function toDrop(
  { results, call }: ContextState,
  surplus: number,
  order: 'random' | 'oldest',
  random: () => number,
): readonly ResultInContext[] {
  const dropped: ResultInContext[] = [];
  const candidates = results.filter(({ firstCall }) => firstCall < call);
  let left = surplus;
  while (left > 0 && candidates.length > 0) {
    const at = order === 'oldest' ? 0 : Math.floor(random() * candidates.length);
    const [result] = candidates.splice(at, 1);
    if (result === undefined) break;
    const gain = estimateResultTokens(result.block) - POINTER_TOKENS;
    if (gain <= 0) continue;
    if (gain > left && random() * gain >= left) break;
    dropped.push(result);
    left -= gain;
  }
  return dropped;
}

function tokensOf(context: readonly IContent[]): number {
  return context.reduce((sum, entry) => sum + entryTokens(entry), 0);
}
