// Compaction by `/responses/compact`, through the real SDK and a provider that checks the items it gets back.

import { setTimeout as pause } from 'node:timers/promises';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';

import { inputCompactor } from '../../../src/adapters/openai/input-compactor.js';
import { providerCompaction } from '../../../src/adapters/openai/provider-compaction.js';
import type { CompactingClient } from '../../../src/adapters/openai/provider-compaction.js';
import type { Compactor } from '../../../src/main/compactor.js';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import { startCompactingProvider } from '../../support/compacting-provider.js';
import { openCompactor } from '../../support/open-compactor.js';

const LONG = 'lorem ipsum dolor '.repeat(60);

const SEALED = { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' };

function openTight(settings: EphemeralSettings = {}): Compactor {
  return openCompactor({
    contextLimit: 6_000,
    settings: { 'compression.strategy': 'provider', 'compression.ahead': 1, ...settings },
  });
}

function turn(at: number): OpenAI.Responses.ResponseInputItem[] {
  return [
    { role: 'user', content: `Never skip part ${at}.` },
    { type: 'reasoning', id: `rs_${at}`, summary: [], encrypted_content: `r${at}` },
    { type: 'function_call', call_id: `c${at}`, name: 'grep', arguments: `{"pattern":"p${at}"}` },
    { type: 'function_call_output', call_id: `c${at}`, output: `${at} ${LONG}${LONG}` },
    { type: 'message', role: 'assistant', content: `done ${at}` } as never,
    { role: 'user', content: `go on ${at}` },
  ];
}

/** A client of a provider that compacts, an adapter, and the events of its compressions. */
async function openTalk(settings?: EphemeralSettings) {
  const provider = await startCompactingProvider();
  const client = new OpenAI({ baseURL: provider.baseURL, apiKey: 'key', maxRetries: 0 });
  const events: CompressedEvent[] = [];
  const compact = inputCompactor(openTight(settings), {
    onError: 'throw',
    onSession: (session) => session.on('compressed', (event) => events.push(event)),
  });
  return { provider, client, events, compact };
}

describe("compression by 'provider' with OpenAI", () => {
  it("sends all items of the provider's compaction in order, and keeps developer messages", async () => {
    const { provider, client, events, compact } = await openTalk();
    const compactByProvider = providerCompaction(client, 'gpt-6.2-sol');
    const items: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'developer', content: 'Be brief.' },
    ];
    for (let at = 0; at < 24; at += 1) {
      items.push(...turn(at));
      const input = await compact(items, { compactByProvider });
      await client.responses.create({ model: 'gpt-6.2-sol', input });
      await pause(1);
    }
    expect(provider.requests.every(({ status }) => status === 200)).toBe(true);
    const asked = provider.requests.filter(({ path }) => path.endsWith('/compact'));
    expect(asked.length).toBeGreaterThan(1);
    expect(events.map(({ strategy, outcome }) => `${strategy} ${outcome}`)).toEqual(
      asked.map(() => 'provider applied'),
    );
    const last = provider.requests.at(-1)?.body.input ?? [];
    expect(last[0]).toEqual({ role: 'developer', content: 'Be brief.' });
    expect(last.filter(({ type }) => type === 'compaction')).toHaveLength(1);
    expect(last.some(({ type }) => type === 'reasoning')).toBe(true);
  });

  it('compacts a long history that arrives in one call, without what the same call pruned', async () => {
    const { provider, client, events, compact } = await openTalk();
    const items: OpenAI.Responses.ResponseInputItem[] = [];
    for (let at = 0; at < 24; at += 1) {
      const [asked, reasoning, , result] = turn(at);
      const [name, path] = [at % 2 === 0 ? 'read_file' : 'write_file', `/p${at >> 1}.ts`];
      const call = { type: 'function_call', call_id: `c${at}`, name } as const;
      const args = JSON.stringify({ file_path: path, content: 'x' });
      items.push(asked!, reasoning!, { ...call, arguments: args }, result!);
      items.push({ role: 'user', content: `go on ${at} ${LONG}` });
      // Empty items are left out of a compaction, and do not prevent one.
      items.push({ role: 'assistant', content: '' }, { role: 'user', content: `and ${at}` });
    }
    const input = await compact(items, {
      compactByProvider: providerCompaction(client, 'gpt-6.2-sol'),
    });
    expect(events.map((event) => [event.strategy, event.fallbackFrom?.error.message])).toEqual([
      ['provider', undefined],
    ]);
    const asked = provider.requests[0]?.body.input ?? [];
    expect(asked.length).toBeGreaterThan(20);
    const names = new Set(asked.map(({ name }) => name));
    expect([names.has('read_file'), names.has('write_file')]).toEqual([false, true]);
    expect(input.length).toBeLessThan(items.length);
    await client.responses.create({ model: 'gpt-6.2-sol', input });
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('drops what the provider compacted at its own threshold, and sends its item byte for byte', async () => {
    const { provider, client, events, compact } = await openTalk({
      'compression.strategy': 'high-density',
    });
    const items: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'developer', content: 'Be brief.' },
    ];
    for (let at = 0; at < 24; at += 1) {
      items.push(...turn(at));
      const response = await client.responses.create({
        model: 'gpt-6.2-sol',
        input: await compact(items),
        context_management: [{ type: 'compaction', compact_threshold: 2_000 }],
      });
      items.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    }
    expect(provider.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(events.length).toBeGreaterThan(2);
    expect(events.map(({ strategy, outcome, llmCallMade: isAsked }) => [strategy, outcome, isAsked]))
      .toEqual(events.map(() => ['provider', 'applied', false])); // prettier-ignore
    for (const { body } of provider.requests) {
      const at = body.input!.findIndex(({ type }) => type === 'compaction');
      if (at !== -1)
        expect(body.input!.slice(0, at)).toEqual([{ role: 'developer', content: 'Be brief.' }]);
      expect(body.input!.filter(({ type }) => type === 'compaction').length).toBeLessThan(2);
    }
    expect(JSON.stringify(provider.requests.at(-1)?.body.input)).toContain('Never skip part 0.');
    // This is no saving by ctxfold.
    const { sentTokens, uncompacted } = compact.report()[0]!.costs;
    expect(uncompacted.sentTokens / sentTokens).toBeLessThan(1.5);
  });

  it('keeps all items of a compaction that the host requested', async () => {
    const compact = inputCompactor(openTight({ 'compression.strategy': 'high-density' }));
    const items = [
      { role: 'user', content: 'Never skip part 0.' },
      { role: 'user', content: 'Nor part 1.' },
      { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed' },
      ...turn(2),
    ] as OpenAI.Responses.ResponseInputItem[];
    expect(await compact(items)).toEqual(items);
  });

  it.each([
    ['the server', (client: OpenAI) => client],
    ['the client', ({ responses }: OpenAI) => ({
      responses: { create: (body: never) => responses.create(body) },
    })], // prettier-ignore
  ])(
    'ends the request with a trigger item, as %s has no endpoint for compaction',
    async (_, given) => {
      const { provider, client, events, compact } = await openTalk();
      provider.lacksEndpoint = true;
      const compactByProvider = providerCompaction(given(client), 'gpt-6.2-sol', { store: false });
      const developer = { role: 'developer', content: 'Be brief.' } as const;
      const items: OpenAI.Responses.ResponseInputItem[] = [developer];
      for (let at = 0; at < 16; at += 1) {
        items.push(...turn(at));
        const input = await compact(items, { compactByProvider });
        await client.responses.create({ model: 'gpt-6.2-sol', input });
      }
      expect(events[0]).toMatchObject({ strategy: 'provider', outcome: 'applied' });
      const asked = provider.requests.filter(
        ({ body }) => body.input?.at(-1)?.['type'] === 'compaction_trigger',
      );
      expect(asked).toHaveLength(events.length);
      expect(asked[0]?.body['store']).toBe(false);
      // It begins like the previous request, so that it reads that from the cache.
      const answered = provider.requests.filter(({ status }) => status === 200);
      const before = answered[answered.indexOf(asked[0]!) - 1]?.body.input ?? [];
      const input = asked[0]?.body.input?.slice(0, -1) ?? [];
      expect(input.length).toBeGreaterThan(5);
      expect(input).toEqual(before.slice(0, input.length));
      const sent = provider.requests.filter(({ path }) => !path.endsWith('/compact'));
      expect(sent.filter(({ status }) => status !== 200)).toEqual([]);
      expect(sent.at(-1)?.body.input?.slice(0, 2)).toEqual([
        developer,
        expect.objectContaining({ type: 'compaction' }),
      ]);
    },
  );

  it.each<
    [
      string,
      Record<string, unknown>,
      readonly [number, Record<string, unknown>] | undefined,
      string,
    ]
  >([
    ['are held by the server', { previous_response_id: 'resp_0' }, undefined, 'server holds'],
    ['are held in a conversation', { conversation: 'conv_0' }, undefined, 'server holds'],
    ['are refused', {}, [400, { error: { message: 'no' } }], 'refused with status 400'],
    ['come back as nothing', {}, [200, { output: [] }], 'made no compaction'],
    [
      'come back with an empty one',
      {},
      [200, { output: [{ type: 'compaction', encrypted_content: '' }] }],
      'made no compaction',
    ],
    ['come back as no object', {}, [200, [] as never], 'made no compaction'],
    [
      'come back with an invalid item',
      {},
      [200, { output: [null, SEALED] }],
      'no request may hold',
    ],
    [
      'come back with a call that nothing answers',
      {},
      [200, { output: [{ type: 'function_call', call_id: 'c', name: 'n' }, SEALED] }],
      'no request may hold',
    ],
    [
      'come back with an output of no call',
      {},
      [200, { output: [{ type: 'function_call_output', call_id: 'c', output: '' }, SEALED] }],
      'no request may hold',
    ],
    [
      'come back no smaller',
      {},
      [200, { output: [{ role: 'user', content: LONG.repeat(20) }, SEALED] }],
      'no smaller',
    ],
  ])(
    'falls back to another strategy if items %s, and says so once',
    async (_, request, refusal, words) => {
      const { provider, client, events, compact } = await openTalk();
      if (refusal !== undefined) provider.refusals.push(refusal);
      const compactByProvider = providerCompaction(client, 'gpt-6.2-sol', request);
      const items: OpenAI.Responses.ResponseInputItem[] = [];
      for (let at = 0; at < 40 && events.length === 0; at += 1) {
        items.push(...turn(at));
        await compact(items, { compactByProvider });
      }
      expect(events).toMatchObject([
        { strategy: 'high-density', fallbackFrom: { strategy: 'provider' } },
      ]);
      expect(events[0]?.fallbackFrom?.error.message).toContain(words);
    },
  );

  it('asks by a request if the client has no other way, and fails if it has none', async () => {
    const asked = (responses: CompactingClient['responses']): Promise<unknown> =>
      providerCompaction({ responses }, 'gpt-6.2-sol')([], new AbortController().signal);
    const answer = { output: [{ type: 'message' }, SEALED] };
    expect(await asked({ create: () => Promise.resolve(answer) })).toMatchObject({
      items: [{ data: SEALED }],
    });
    await expect(asked({})).rejects.toThrow('the provider knows no compaction');
  });

  it('accepts any other items of the answer, such as a call with its output', async () => {
    const answer = [
      { role: 'user', content: 'go on' },
      { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '' },
      { type: 'tool_search_call', call_id: null, execution: 'server', status: 'completed' },
      SEALED,
    ];
    const responses = { compact: () => Promise.resolve({ output: answer }) };
    const compact = providerCompaction({ responses }, 'gpt-6.2-sol');
    const { items } = await compact([], new AbortController().signal);
    expect(items.map(({ data }) => data)).toEqual(answer);
  });

  it("sends the single item of xAI's answer through the same client, byte for byte", async () => {
    const item = { type: 'compaction', id: 'cmp_x', encrypted_content: 'sealed by xAI' };
    const asked: { readonly url: string; readonly body: Record<string, unknown> }[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      const body = JSON.parse(init?.body as string) as Record<string, unknown>;
      asked.push({ url: url as string, body });
      return Promise.resolve(Response.json(item));
    };
    const client = new OpenAI({ baseURL: 'https://api.x.ai/v1', apiKey: 'key', fetch });
    const compact = inputCompactor(openTight(), { onError: 'throw' });
    const compactByProvider = providerCompaction(client, 'grok-4.6');
    const items: OpenAI.Responses.ResponseInputItem[] = [];
    let input: OpenAI.Responses.ResponseInputItem[] = [];
    for (let at = 0; at < 40 && asked.length === 0; at += 1) {
      items.push(...turn(at));
      input = await compact(items, { compactByProvider });
    }
    expect(asked.map(({ url }) => url)).toEqual(['https://api.x.ai/v1/responses/compact']);
    expect(Object.keys(asked[0]!.body).sort()).toEqual(['input', 'model']);
    expect(input.filter((each) => each.type === 'compaction')).toEqual([item]);
    expect(input.length).toBeLessThan(items.length);
  });
});
