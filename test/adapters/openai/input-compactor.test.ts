// Responses through the real SDK, with a provider that refuses what breaks a rule.

import OpenAI from 'openai';
import type { ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { inputCompactor } from '../../../src/adapters/openai/input-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';
import { sample } from '../../support/scale.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { deepFreeze } from './arbitrary-talks.js';
import { findProblems } from './item-talks.js';
import type { Item } from './item-talks.js';
import {
  runTool,
  scriptedWork,
  SUMMARY,
  TIGHT_COMPACTORS,
  workspaceTools,
} from './scripted-work.js';

const ANSWERS = 41;

function compactorFor(options: AdapterOptions, compactorOptions: CompactorOptions = {}) {
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    ...compactorOptions,
  });
  onTestFinished(() => compactor.close());
  return inputCompactor(compactor, options);
}

/** Runs the model until it makes no more calls; returns the caller's items. */
async function work(
  { url }: ScriptedProvider,
  compact: ReturnType<typeof inputCompactor>,
  isStreaming: boolean,
): Promise<readonly ResponseInputItem[]> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const files = await workspaceTools();
  const tools = files.map(
    ({ name, description, inputSchema }) =>
      ({
        type: 'function',
        name,
        description,
        parameters: { ...inputSchema },
        strict: true,
      }) as const,
  );
  const items: ResponseInputItem[] = [
    { role: 'developer', content: 'You are a coding agent.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Tidy up the shop.' }] },
  ];
  for (;;) {
    deepFreeze(items.slice());
    const input = await compact(items);
    const request = {
      model: 'scripted',
      input,
      tools,
      store: false,
      include: ['reasoning.encrypted_content' as const],
    };
    const { output }: { output: readonly ResponseOutputItem[] } = isStreaming
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    // The API accepts the items of a response as input, whatever their type says.
    items.push(...(output as ResponseInputItem[]));
    const calls = output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return items;
    for (const call of calls) {
      items.push({
        type: 'function_call_output',
        call_id: call.call_id,
        output: await runTool(files, call.name, call.arguments),
      });
    }
  }
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
    const items = await work(provider, compact, isStreaming);
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
      const items = await work(provider, compact, false);
      expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
      expect(problemsOf(provider, items)).toEqual([]);
      expect(compact.report()[0]?.sentMessages).toBeLessThan(items.length * 0.6);
      const isSummarized = provider.requests.some(({ body }) =>
        JSON.stringify(body).includes(SUMMARY),
      );
      expect(isSummarized).toBe(tight.summarizer !== undefined);
    },
  );

  it('does not edit a request that continues a stored response', async () => {
    const compact = compactorFor({ edits: 'every-turn' });
    const output = { type: 'function_call_output', call_id: 'c1', output: 'long' } as const;
    expect(await compact([output])).toEqual([output]);
  });

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
});
