// Naive baselines: before each call, they drop as many tokens of results as a policy has dropped by then, at random or oldest
// first. What a policy retains beyond that is its merit.

import { PRUNED_POINTER } from '../../src/density.js';
import type { ContentBlock, IContent } from '../../src/index.js';
import { estimateResultTokens } from '../../src/shared/tokens/estimate.js';
import { seededRandom } from '../support/seeded-random.js';
import { entryTokens } from './context-meter.js';
import type { Policy } from './policy.js';
import { droppingResults } from './results-in-context.js';
import type { ResultInContext } from './results-in-context.js';

const SEED = 1;
const POINTER_TOKENS = estimateResultTokens({ result: PRUNED_POINTER });

/**
 * A policy that sends about as many tokens at each call as another one. It drops results that the model was sent at least once,
 * oldest first or in random order, as long as that brings it nearer to the other's tokens.
 */
export function matchedBaseline(name: string, order: 'random' | 'oldest', like: Policy): Policy {
  return {
    name,
    role: 'baseline',
    start: (session) => {
      const random = seededRandom(SEED);
      const ranks = new Map<ContentBlock, number>();
      const rankOf = ({ block, entry }: ResultInContext): number => {
        const rank = ranks.get(block) ?? (order === 'random' ? random() : entry);
        ranks.set(block, rank);
        return rank;
      };
      const sendLike = like.start(session);
      let target = 0;
      const send = droppingResults(session.transcript, ({ results, call, context }) => {
        const line = results
          .filter(({ firstCall }) => firstCall < call)
          .sort((a, b) => rankOf(a) - rankOf(b));
        return firstInLine(line, tokensOf(context) - target);
      });
      return (added) => {
        target = tokensOf(sendLike(added));
        return send(added);
      };
    },
  };
}

function firstInLine(
  line: readonly ResultInContext[],
  surplus: number,
): readonly ResultInContext[] {
  const dropped: ResultInContext[] = [];
  let left = surplus;
  for (const result of line) {
    const gain = estimateResultTokens(result.block) - POINTER_TOKENS;
    if (gain <= 0) continue;
    if (gain >= 2 * left) break;
    dropped.push(result);
    left -= gain;
  }
  return dropped;
}

function tokensOf(context: readonly IContent[]): number {
  return context.reduce((sum, entry) => sum + entryTokens(entry), 0);
}
