// Responses through the real SDK, with a provider that refuses what breaks a rule.

import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { inputCompactor } from '../../../src/adapters/openai/input-compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';
import { length, sample } from '../../support/scale.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { findProblems } from './item-talks.js';
import type { Item } from './item-talks.js';
import { runResponses } from './agent-loops.js';
import { scriptedWork, SUMMARY, TIGHT_COMPACTORS } from './scripted-work.js';
import { openCompactor } from '../../support/open-compactor.js';

const ANSWERS = length(41, 25);

function compactorFor(options: AdapterOptions, compactorOptions: CompactorOptions = {}) {
  return inputCompactor(openCompactor(compactorOptions), options);
}

/** The problems of the last request, whose answer is the last item. */
function problemsOf(
  provider: ScriptedProvider,
  items: readonly ResponseInputItem[],
): readonly string[] {
  const sent = provider.requests.at(-1)!.body['input'] as readonly Item[];
  return findProblems(sent, items.slice(0, -1) as unknown as readonly Item[]);
}

describe('inputCompactor', () => {
  it.each([
    ['answers', false],
    ['streams', true],
  ])('sends pruned requests that the provider accepts, when that %s', async (_, isStreaming) => {
    const provider = await startStrictProvider(scriptedWork(ANSWERS));
    const compact = compactorFor({ edits: 'every-turn' });
    const items = await runResponses(provider, { compact, isStreaming });
    expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
    expect(problemsOf(provider, items)).toEqual([]);
    const sent = provider.requests.at(-1)!.body['input'] as readonly Item[];
    expect(sent.length).toBeLessThan(items.length * 0.75);
    expect(sent.slice(0, 2)).toEqual(items.slice(0, 2));
    const reasoning = sent.filter(({ type }) => type === 'reasoning');
    expect(reasoning.length).toBeGreaterThan(0);
    const given = new Set(items.map((item) => JSON.stringify(item)));
    expect(sent.filter((item) => !given.has(JSON.stringify(item)))).toEqual([]);
  });

  it.each(sample(TIGHT_COMPACTORS, 1))(
    'sends requests that the provider accepts while it compresses by %s',
    async (_, tight) => {
      const provider = await startStrictProvider(scriptedWork(ANSWERS));
      const compact = compactorFor({}, tight);
      const items = await runResponses(provider, { compact, isStreaming: false });
      expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
      expect(problemsOf(provider, items)).toEqual([]);
      expect(compact.report()[0]?.sentMessages).toBeLessThan(items.length * 0.6);
      const isSummarized = provider.requests.some(({ body }) =>
        JSON.stringify(body).includes(SUMMARY),
      );
      expect(isSummarized).toBe(tight.summarizer !== undefined);
    },
  );

  it.each(['strip-after-first-edit', 'forbid-edits'] as const)(
    'refuses the reasoning option %s',
    async (reasoning) => {
      expect(() => compactorFor({ reasoning })).toThrow(RangeError);
      const compact = compactorFor({ onError: 'throw' });
      await expect(compact([], { reasoning })).rejects.toThrow(RangeError);
    },
  );

  it('returns items that continue a conversation on the server unchanged, starts no session, and says so once', async () => {
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const sessions: unknown[] = [];
    const options = {
      logger: { debug: () => undefined, warn, error: () => undefined },
      onSession: (session: unknown) => void sessions.push(session),
    };
    const compact = compactorFor(options);
    for (let turn = 0; turn < 3; turn += 1) {
      const items: ResponseInputItem[] = [
        { type: 'function_call_output', call_id: `call_${turn}`, output: 'line '.repeat(9_000) },
        { role: 'user', content: 'And now?' },
      ];
      expect(await compact(items)).toEqual(items);
    }
    expect(sessions).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('previous_response_id')]);
  });

  it.each([
    ['fc_1', ['item_reference']],
    ['rs_1', []],
  ])(
    'says once if nothing of results can be compacted, because their calls are only %s',
    async (id, said) => {
      const warnings: string[] = [];
      const warn = (message: string) => void warnings.push(message);
      const logger = { debug: () => undefined, warn, error: () => undefined };
      const compact = compactorFor({ logger });
      const items: ResponseInputItem[] = [{ role: 'user', content: 'go' }];
      for (const turn of ['1', '2']) {
        items.push({ type: 'item_reference', id: `${id}${turn}` });
        for (const output of ['long', 'longer'])
          items.push({ type: 'function_call_output', call_id: `call_${turn}`, output });
        expect(await compact(items)).toEqual(items);
      }
      expect(warnings).toEqual(said.map((part) => expect.stringContaining(part) as string));
    },
  );
});
