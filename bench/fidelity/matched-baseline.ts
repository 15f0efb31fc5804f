// Pruning without a thought, to compare with: before each call, as many tokens of results go as a policy has let go of by
// then, by chance or the oldest first. What a policy keeps above that is its merit.

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
 * The policy that sends, at each call, about as many tokens as another one does. It takes results that the model was sent
 * at least once, in the order of their coming or in one that is drawn as they come. The next in line goes when that brings it
 * nearer to the tokens of the other one.
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
