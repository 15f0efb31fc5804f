// The costs that a session reports, compared with the bill of a provider that does not cache short prompts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { modelPrice } from '../../src/main/models/model-prices.js';
import type { IContent } from '../../src/shared/content.js';
import { toolCall } from '../../src/shared/content.js';
import { CachingProvider, tokensOf } from '../support/caching-provider.js';
import { openSession } from '../support/session-bench.js';
import { runs } from '../support/scale.js';

const MINUTE = 60_000;

interface Call {
  readonly name: 'read_file' | 'write_file' | 'run_shell_command';
  readonly file: string;
  readonly words: number;
  /** Minutes since the request before. */
  readonly idle: number;
}

const CALLS: fc.Arbitrary<readonly Call[]> = fc.array(
  fc.record({
    name: fc.constantFrom('read_file', 'write_file', 'run_shell_command'),
    file: fc.constantFrom('a.ts', 'b.ts', 'c.ts'),
    words: fc.constantFrom(1, 20, 150, 400, 4_000),
    idle: fc.constantFrom(0, 0, 0, 0, 4, 6),
  }),
  { minLength: 1, maxLength: 24 },
);

function entriesOf({ name, file, words }: Call, at: number): readonly IContent[] {
  const callId = `c${at}`;
  const result = Array.from({ length: words }, (_, word) => `w${at}x${word}`).join('\n');
  const parameters = { file_path: file, command: `cat ${file}` };
  return [
    { speaker: 'ai', blocks: [toolCall(callId, name, parameters)] },
    {
      speaker: 'tool',
      blocks: [{ type: 'tool_response', callId, toolName: name, result, isComplete: true }],
    },
  ];
}

const partOf = ({ blocks }: IContent): string => JSON.stringify(blocks);

describe('costs of short prompts', () => {
  it.each(['claude-opus-5-5', 'claude-opus-4-8', 'claude-opus-4-6'])(
    "equal the provider's bill: %s",
    async (model) => {
      const price = modelPrice(model)!;
      let [cachedEdits, shortEdits] = [0, 0];
      await fc.assert(
        fc.asyncProperty(CALLS, fc.constantFrom('every-turn', 'auto'), async (calls, edits) => {
          let nowMs = 0;
          const now = (): number => nowMs;
          const provider = new CachingProvider(price, now);
          const session = openSession({
            contextLimit: 1_000_000,
            countEntries: (entries) =>
              Promise.resolve(entries.map((entry) => tokensOf(partOf(entry)))),
            timing: { edits, now, price: () => price },
          });
          session.history.add({ speaker: 'human', blocks: [{ type: 'text', text: 'Go.' }] });
          for (const [at, call] of calls.entries()) {
            nowMs += call.idle * MINUTE;
            const { pruned } = await session.ensureCompressionBeforeSend('p');
            const parts = session.history.getRawHistory().map(partOf);
            const { readTokens } = provider.take({ head: '', parts, ttlMs: 5 * MINUTE });
            // An edit of what is not cached costs nothing.
            const former = provider.billed.at(-2)?.inputTokens ?? 0;
            if (pruned?.reason === 'cache-cold')
              expect(call.idle > 4 || former < price.leastCachedTokens!).toBe(true);
            if (pruned !== null && readTokens > 0) cachedEdits += 1;
            if (pruned !== null && readTokens === 0 && call.idle < 5) shortEdits += 1;
            expect(session.costs().dollars!.with).toBeCloseTo(provider.dollars, 9);
            expect(session.costs().cacheReadTokens).toBe(
              provider.billed.reduce((sum, billed) => sum + billed.readTokens, 0),
            );
            session.history.addAll(entriesOf(call, at));
          }
        }),
        { numRuns: runs(500, 15) },
      );
      expect(Math.min(cachedEdits, shortEdits)).toBeGreaterThan(0);
    },
  );
});
