// Compaction on demand by Anthropic, through the real SDK and a provider that checks the blocks it gets back.

import Anthropic from '@anthropic-ai/sdk';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { compactionMiddleware } from '../../../src/adapters/anthropic/compaction-middleware.js';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import type { EphemeralSettings } from '../../../src/main/settings/ephemeral-settings.js';
import { startCompactingProvider } from '../../support/compacting-provider.js';
import type { CompactingProvider } from '../../support/compacting-provider.js';
import { openCompactor } from '../../support/open-compactor.js';

const LONG = 'lorem ipsum dolor '.repeat(60);

interface Agent {
  readonly provider: CompactingProvider;
  readonly client: Anthropic;
  readonly events: CompressedEvent[];
  readonly failures: Error[];
  /** Plays turns of an agent: a user message, a call with its result, thinking. */
  readonly play: (turns: number) => Promise<void>;
}

async function startAgent(
  settings: EphemeralSettings = {},
  body: object = {},
  contextLimit = 6_000,
): Promise<Agent> {
  const provider = await startCompactingProvider();
  const compactor = openCompactor({
    contextLimit,
    settings: { 'compression.strategy': 'provider', 'compression.ahead': 1, ...settings },
  });
  const events: CompressedEvent[] = [];
  const failures: Error[] = [];
  const client = new Anthropic({
    baseURL: provider.baseURL,
    apiKey: 'key',
    maxRetries: 0,
    middleware: [
      compactionMiddleware(compactor, {
        onError: 'throw',
        onSession: (session) => {
          session.on('compressed', (event) => events.push(event));
          session.on('compressionFailed', ({ error }) => failures.push(error));
        },
      }),
    ],
  });
  const messages: Anthropic.MessageParam[] = [];
  let turn = 0;
  return {
    provider,
    client,
    events,
    failures,
    play: async (turns) => {
      for (let last = turn + turns; turn < last; turn += 1) {
        const id = `toolu_${turn}`;
        const thinking = {
          type: 'thinking',
          thinking: `thought ${turn}`,
          signature: `s${turn}`,
        } as const;
        messages.push(
          { role: 'user', content: `Never skip part ${turn}. ${LONG}` },
          {
            role: 'assistant',
            content: [
              thinking,
              { type: 'tool_use', id, name: 'grep', input: { pattern: `p${turn}` } },
            ],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: id, content: `${turn} ${LONG}` }],
          },
          { role: 'assistant', content: `done ${turn}` },
          { role: 'user', content: `go on ${turn}` },
        );
        await client.messages.create({
          model: 'claude-opus-5-5',
          max_tokens: 100,
          thinking: { type: 'adaptive' },
          stop_sequences: ['END'],
          ...body,
          messages,
        } as Anthropic.MessageCreateParamsNonStreaming);
        messages.push({ role: 'assistant', content: [{ type: 'text', text: 'fine' }] });
        for (let at = 0; at < 20; at += 1) await nextTurn();
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
}

const textOf = (value: unknown): string => JSON.stringify(value);

describe("compression by 'provider' with Anthropic", () => {
  it('has the provider compact, and from then on sends its block first, byte for byte', async () => {
    const { provider, events, play } = await startAgent();
    await play(24);
    const asked = provider.requests.filter(({ body }) => body['compaction'] !== undefined);
    expect(asked.length).toBeGreaterThan(1);
    expect(
      provider.requests.map(({ status }) => status).filter((status) => status !== 200),
    ).toEqual([]);
    expect(events.map(({ outcome, strategy }) => `${strategy} ${outcome}`)).toEqual(
      asked.map(() => 'provider applied'),
    );
    const last = provider.requests.at(-1)!;
    expect(textOf(last.body.messages?.[0])).toContain('"type":"compaction"');
    expect(last.betas).toEqual(['compact-2026-09-04']);
    expect(asked[0]?.body['max_tokens']).toBeGreaterThan(1_000);
    // The second compaction covers the first one and what came after it.
    expect(textOf(asked[1]?.body.messages?.[0])).toContain('"type":"compaction"');
  });

  it("keeps the thinking behind the block, and the user's words behind that", async () => {
    const { provider, play } = await startAgent({ 'compression.preserveThreshold': 0.5 });
    await play(14);
    const [first] = provider.requests.filter(({ body }) =>
      textOf(body.messages?.[0]).includes('"compaction"'),
    );
    const [block, ...kept] = first?.body.messages ?? [];
    expect(textOf(block)).toContain('compaction');
    expect(kept[0]?.['role']).toBe('assistant');
    const called = kept.filter((message) => textOf(message).includes('"tool_use"'));
    expect(called.length).toBeGreaterThan(1);
    for (const message of called) expect(textOf(message)).toContain('"thinking"');
    expect(textOf(kept)).toContain('Record of what was asked');
    expect(textOf(kept)).toContain('Never skip part 0.');
  });

  it('compacts a long history that arrives in one request, without what the same request pruned', async () => {
    const { provider, client, events } = await startAgent();
    const messages = Array.from({ length: 24 }, (_, at): Anthropic.MessageParam[] => {
      const id = `toolu_${at}`;
      const name = at % 2 === 0 ? 'read_file' : 'write_file';
      const input = { file_path: `/p${at >> 1}.ts`, content: 'x' };
      return [
        { role: 'user', content: `part ${at} ${LONG}` },
        { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: LONG }] },
        { role: 'assistant', content: `done ${at}` },
      ];
    }).flat();
    messages.push({ role: 'user', content: 'go on' });
    await client.messages.create({ model: 'claude-opus-5-5', max_tokens: 100, messages });
    expect(events.map((event) => [event.strategy, event.fallbackFrom?.error.message])).toEqual([
      ['provider', undefined],
    ]);
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200]);
    const asked = textOf(provider.requests[0]?.body.messages);
    expect([asked.includes('"read_file"'), asked.includes('"write_file"')]).toEqual([false, true]);
  });

  it('never puts a message of another role right behind the block', async () => {
    const { provider, client } = await startAgent();
    // Instructions that a host looked up and added with the search by which it found them.
    const searched = (at: number): Anthropic.MessageParam =>
      ({
        role: 'system',
        content: [
          { type: 'server_tool_use', id: `srvtoolu_${at}`, name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${at}`, content: [] },
        ],
      }) as never;
    const messages = Array.from({ length: 24 }, (_, at): Anthropic.MessageParam[] => [
      { role: 'user', content: `part ${at} ${LONG}` },
      searched(at),
      { role: 'assistant', content: `done ${at} ${LONG}` },
    ]).flat();
    messages.push({ role: 'user', content: 'go on' });
    await client.messages.create({ model: 'claude-opus-5-5', max_tokens: 100, messages });
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200]);
    const [block, next] = provider.requests[1]?.body.messages ?? [];
    expect(textOf(block)).toContain('"type":"compaction"');
    expect(['user', 'assistant']).toContain(next?.['role']);
  });

  it('is made ahead of time unless that is switched off', async () => {
    const { provider, events, play } = await startAgent({ 'compression.ahead': 0.5 });
    await play(14);
    expect(events.some(({ isAhead, outcome }) => isAhead === true && outcome === 'applied')).toBe(
      true,
    );
    expect(provider.requests.every(({ status }) => status === 200)).toBe(true);
  });

  it.each<[string, readonly [number, Record<string, unknown>]]>([
    [
      'refuses',
      [
        529,
        {
          type: 'error',
          error: {
            type: 'overloaded_error',
            message: 'x',
            details: { error_code: 'compaction_unavailable' },
          },
        },
      ],
    ],
    ['answers with nothing', [200, { content: [], stop_reason: 'max_tokens' }]],
    [
      'answers without a compaction block',
      [200, { content: [{ type: 'text', text: 'hi' }], stop_reason: 'compaction' }],
    ],
    [
      'answers with a block that holds nothing',
      [200, { content: [{ type: 'compaction', content: null }], stop_reason: 'compaction' }],
    ],
    [
      'answers with an empty block',
      [200, { content: [{ type: 'compaction', content: '' }], stop_reason: 'compaction' }],
    ],
    [
      'stops before the end of the block',
      [200, { content: [{ type: 'compaction', content: 'What' }], stop_reason: 'max_tokens' }],
    ],
    ['answers with no JSON object', [200, [] as never]],
  ])(
    'falls back to another strategy when the provider %s, and says so once',
    async (_, refusal) => {
      const { provider, events, failures, play } = await startAgent();
      provider.refusals.push(refusal);
      await play(16);
      const [event, ...others] = events.filter(({ fallbackFrom }) => fallbackFrom !== undefined);
      expect(event).toMatchObject({
        strategy: 'high-density',
        outcome: 'applied',
        fallbackFrom: { strategy: 'provider', error: { code: 'PROVIDER_COMPACTION_FAILED' } },
      });
      expect(event?.fallbackFrom?.error.message).toContain(
        refusal[0] === 200 ? 'made no summary' : 'refused with status 529 (compaction_unavailable)',
      );
      expect(others).toEqual([]);
      expect(failures).toEqual([]);
      const sent = provider.requests.filter(({ body }) => body['compaction'] === undefined);
      expect(sent.every(({ status }) => status === 200)).toBe(true);
    },
  );

  it('falls back to another strategy when the provider stops compacting, and keeps sending its block', async () => {
    const { provider, events, play } = await startAgent();
    for (let turns = 0; turns < 20 && events.length === 0; turns += 1) await play(1);
    const error = { type: 'invalid_request_error', message: 'compaction: not supported' };
    for (let at = 0; at < 50; at += 1) provider.refusals.push([400, { type: 'error', error }]);
    await play(10);
    const [made, ...others] = events.filter(({ outcome }) => outcome === 'applied');
    expect(made).toMatchObject({ strategy: 'provider' });
    expect(others.length).toBeGreaterThan(0);
    for (const event of others)
      expect(event).toMatchObject({
        ...{ strategy: 'high-density', fallbackFrom: { strategy: 'provider' } },
      });
    const sent = provider.requests.filter(({ body }) => body['compaction'] === undefined);
    expect(sent.every(({ status }) => status === 200)).toBe(true);
    expect(textOf(sent.at(-1)?.body.messages?.[0])).toContain('"type":"compaction"');
  });

  it('removes the thinking behind an unsigned block', async () => {
    const { provider, play } = await startAgent({ 'compression.preserveThreshold': 0.5 });
    const block = { type: 'compaction', content: 'What was.' };
    const answer = { content: [block], stop_reason: 'compaction' };
    provider.refusals.push([200, answer]);
    provider.trusted.push(block);
    for (let turns = 0; turns < 20; turns += 1) {
      await play(1);
      if (provider.requests.some(({ body }) => textOf(body.messages?.[0]).includes('What was.')))
        break;
    }
    const [first] = provider.requests.filter(({ body }) =>
      textOf(body.messages?.[0]).includes('What was.'),
    );
    expect(first?.status).toBe(200);
    expect(textOf(first?.body.messages)).toContain('"tool_use"');
    expect(textOf(first?.body.messages)).not.toContain('"thinking"');
  });

  it('drops what the provider compacted at its own threshold, and adds no beta header for that', async () => {
    const { provider, client, events } = await startAgent(
      { 'compression.strategy': 'high-density' },
      {},
      400_000,
    );
    const beta = client.beta.messages;
    const messages: Anthropic.Beta.BetaMessageParam[] = [];
    for (let at = 0; at < 9; at += 1) {
      const id = `toolu_${at}`;
      messages.push(
        { role: 'user', content: `Never skip part ${at}. ${LONG.repeat(60)}` },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'ask', input: { at } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: id, content: `${at}` }],
        },
      );
      const answer = await beta.create({
        model: 'claude-opus-5-5',
        max_tokens: 100,
        betas: ['compact-2026-01-12'],
        context_management: {
          edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 } }],
        },
        messages,
      });
      messages.push({ role: 'assistant', content: answer.content });
    }
    expect(provider.requests.filter(({ status }) => status !== 200)).toEqual([]);
    expect(events.length).toBeGreaterThan(1);
    expect(events[0]).toMatchObject({
      strategy: 'provider',
      outcome: 'applied',
      llmCallMade: false,
    });
    for (const { body, betas } of provider.requests) {
      const at = body.messages!.findLastIndex((each) => textOf(each).includes('"compaction"'));
      expect(at).toBeLessThan(1);
      expect(betas).not.toContain('compact-2026-09-04');
    }
    expect(textOf(provider.requests.at(-1)?.body.messages)).toContain('Never skip part 0.');
  });

  it('asks for no compaction beside context editing by the server', async () => {
    const { provider, events, play } = await startAgent({}, { context_management: { edits: [] } });
    await play(16);
    expect(provider.requests.some(({ body }) => body['compaction'] !== undefined)).toBe(false);
    expect(events[0]).toMatchObject({
      strategy: 'high-density',
      fallbackFrom: { strategy: 'provider' },
    });
  });
});
