// The middleware in the real SDK, with a provider on the loopback interface that refuses what Anthropic refuses.

import Anthropic, { betaRefusalFallbackMiddleware } from '@anthropic-ai/sdk';
import type { Middleware } from '@anthropic-ai/sdk';
import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { startScriptedProvider } from '../../../examples/support/scripted-provider.js';
import type {
  IncomingRequest,
  ScriptedProvider,
  ScriptedStep,
} from '../../../examples/support/scripted-provider.js';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { compactionMiddleware } from '../../../src/adapters/anthropic/compaction-middleware.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import { findBreaches } from '../../support/find-breaches.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { ask, longText, say, staleRead } from './conversations.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { openCompactor } from '../../support/open-compactor.js';

/** One per test: to a compactor, conversations that begin alike are the same one. */
let compactor: Compactor;
beforeEach(() => {
  compactor = createCompactor({ offload: 'inline', workspaceRoot: '/work' });
});
afterEach(() => compactor.close());

const REQUEST = { model: 'claude-sonnet-5-5', max_tokens: 100 };
const ANSWER: ScriptedStep = { text: 'So be it.' };

interface ClientOptions extends AdapterOptions {
  /** Runs before the middleware of the adapter. */
  readonly first?: Middleware;
}

function clientOf(
  provider: ScriptedProvider,
  { first, ...options }: ClientOptions = {},
): Anthropic {
  const compaction = compactionMiddleware(compactor, { edits: 'every-turn', ...options });
  return new Anthropic({
    apiKey: 'none',
    baseURL: provider.url,
    middleware: first === undefined ? [compaction] : [first, compaction],
  });
}

function sentMessages({ body }: IncomingRequest): readonly MessageParam[] {
  return body['messages'] as readonly MessageParam[];
}

/** Refuses reasoning whose prefix has changed since the model produced it. */
async function startBindingProvider(script: readonly ScriptedStep[]): Promise<ScriptedProvider> {
  const prefixes = new Map<string, string>();
  let answers = 0;
  const provider = await startScriptedProvider({
    script,
    check: (request) => {
      const messages = sentMessages(request);
      const breach = findBreaches(request)[0]?.message;
      if (breach !== undefined) return breach;
      for (const [at, { content }] of messages.entries()) {
        for (const part of typeof content === 'string' ? [] : content) {
          if (part.type !== 'thinking') continue;
          if (prefixes.get(part.signature) !== JSON.stringify(messages.slice(0, at))) {
            return `messages.${at}: The block is bound to a different conversation.`;
          }
        }
      }
      prefixes.set(`sig_scripted_${answers}`, JSON.stringify(messages));
      answers += 1;
      return undefined;
    },
  });
  onTestFinished(() => provider.close());
  return provider;
}

/** Lets a scripted model call tools, and answers each call with a long text. */
async function runLoop(
  client: Anthropic,
  params: Partial<Anthropic.MessageCreateParamsNonStreaming> = {},
): Promise<MessageParam[]> {
  const messages = [ask('Fix a.ts.')];
  for (;;) {
    const { content } = await client.messages.create({ ...REQUEST, ...params, messages });
    messages.push({ role: 'assistant', content });
    const results = content.flatMap((part) =>
      part.type === 'tool_use'
        ? { type: 'tool_result' as const, tool_use_id: part.id, content: longText(part.id) }
        : [],
    );
    if (results.length === 0) return messages;
    messages.push({ role: 'user', content: results });
  }
}

const step = (name: string, file: string, reasoning?: string): ScriptedStep => ({
  ...(reasoning !== undefined && { reasoning }),
  toolCalls: [{ name, input: { file_path: file } }],
});

describe('compactionMiddleware', () => {
  it('sends the compacted messages, and changes nothing else of the request', async () => {
    const provider = await startStrictProvider([ANSWER, ANSWER]);
    const messages = deepFreeze(staleRead());
    const params = deepFreeze({
      ...REQUEST,
      system: [{ type: 'text' as const, text: 'Be brief.' }],
      messages,
      metadata: { user_id: 'u' },
    });
    const plain = new Anthropic({ apiKey: 'none', baseURL: provider.url });

    await plain.messages.create(params);
    await clientOf(provider).messages.create(params);

    const [whole, compacted] = provider.requests;
    expect(Object.keys(compacted!.body)).toEqual(Object.keys(whole!.body));
    expect({ ...compacted!.body, messages: 0 }).toEqual({ ...whole!.body, messages: 0 });
    expect(sentMessages(compacted!)).toEqual([messages[0], ...messages.slice(3)]);
    expect(compacted?.headers['content-length']).toBe(
      String(Buffer.byteLength(JSON.stringify(compacted?.body))),
    );
  });

  it('tries again with the same body, in the same session', async () => {
    const provider = await startStrictProvider([ANSWER]);
    const sessions: Session[] = [];
    const client = clientOf(provider, { onSession: (session) => sessions.push(session) });
    provider.failNext(503, 2);

    await client.messages.create({ ...REQUEST, messages: staleRead() });

    expect(provider.requests.map(({ status }) => status)).toEqual([503, 503, 200]);
    const bodies = new Set(provider.requests.map(({ body }) => JSON.stringify(body)));
    expect(bodies.size).toBe(1);
    expect(sentMessages(provider.requests[0]!)).toHaveLength(5);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.history.length).toBe(5);
  });

  it('tries again with the same body when the conversation has continued meanwhile', async () => {
    const provider = await startStrictProvider([ANSWER, ANSWER]);
    const messages = [...staleRead(), say('Done.'), ask('Really?')];
    const first: Middleware = async (request, next) => {
      const isRetry = new Headers(request.headers).get('x-stainless-retry-count') === '1';
      if (isRetry) await client.messages.create({ ...REQUEST, messages: later });
      return next(request);
    };
    const later = [...messages, say('Yes.'), ask('Sure?')];
    const sessions: Session[] = [];
    const onSession = (session: Session) => sessions.push(session);
    const client = clientOf(provider, { first, onSession });
    provider.failNext(503);

    await client.messages.create({ ...REQUEST, messages });

    const [failed, other, again] = provider.requests;
    expect(sentMessages(other!)).toHaveLength(9);
    expect(JSON.stringify(again?.body)).toBe(JSON.stringify(failed?.body));
    expect(sessions).toHaveLength(1);
  });

  it('streams', async () => {
    const provider = await startStrictProvider([ANSWER, ANSWER]);
    const client = clientOf(provider);
    const params = { ...REQUEST, messages: staleRead() };

    const message = await client.messages.stream(params).finalMessage();
    const events = await client.beta.messages.create({ ...params, stream: true });
    const types = new Set<string>();
    for await (const { type } of events) types.add(type);

    expect(message.content).toEqual([{ type: 'text', text: ANSWER.text }]);
    expect(types).toContain('message_stop');
    expect(provider.requests.map((request) => sentMessages(request).length)).toEqual([5, 5]);
  });

  it('is never refused in a long loop', async () => {
    const files = ['a.ts', 'b.ts', 'c.ts'];
    const script = Array.from({ length: 30 }, (_, at) =>
      step(
        at % 3 === 2 ? 'write_file' : 'read_file',
        files[at % 2]!,
        at % 4 === 0 ? 'Hm.' : undefined,
      ),
    );
    const provider = await startBindingProvider([...script, ANSWER]);

    const messages = await runLoop(clientOf(provider));

    expect(messages).toHaveLength(62);
    expect(provider.requests.every(({ status }) => status === 200)).toBe(true);
    expect(sentMessages(provider.requests.at(-1)!).length).toBeLessThan(40);
  });

  describe('with reasoning', () => {
    const SCRIPT = [
      step('read_file', 'a.ts', 'I look.'),
      step('write_file', 'a.ts', 'I write.'),
      step('search', 'b.ts', 'I search.'),
      ANSWER,
    ];
    const reasoningIn = (request: IncomingRequest | undefined): readonly string[] =>
      JSON.stringify(request?.body).match(/I (?:look|write|search)\./g) ?? [];

    it('removes reasoning whose prefix has changed', async () => {
      const provider = await startBindingProvider(SCRIPT);

      await runLoop(clientOf(provider), { thinking: { type: 'adaptive' } });

      expect(sentMessages(provider.requests.at(-1)!)).toHaveLength(5);
      expect(reasoningIn(provider.requests.at(-1))).toEqual(['I search.']);
    });

    it('counts the tokens of what was sent and what follows: the endpoint refuses reasoning with another prefix', async () => {
      const provider = await startBindingProvider([...SCRIPT, ANSWER]);
      const counted: MessageParam[][] = [];
      const client = clientOf(provider).withOptions({
        fetch: (url, init) => {
          if (!new Request(url).url.endsWith('/v1/messages/count_tokens')) return fetch(url, init);
          const body = JSON.parse(init?.body as string) as { messages: MessageParam[] };
          counted.push(body.messages);
          return Promise.resolve(Response.json({ input_tokens: 1 }));
        },
      });
      const messages = await runLoop(client, { thinking: { type: 'adaptive' } });
      const sent = sentMessages(provider.requests.at(-1)!);
      messages.push(ask('Go on.'));

      await client.messages.countTokens({ model: REQUEST.model, messages });
      // Like a host that rebuilds its messages.
      const rebuilt = structuredClone(messages);
      await client.messages.countTokens({ model: REQUEST.model, messages: rebuilt });
      await client.messages.create({ ...REQUEST, messages });

      expect(sent.length).toBeLessThan(messages.length - 2);
      expect(counted[0]).toEqual([...sent, ...messages.slice(-2)]);
      expect(counted[1]).toEqual(counted[0]);
      expect(sentMessages(provider.requests.at(-1)!)).toEqual(counted[0]);
    });

    it('removes it once a model that binds it has refused it, although it was to be kept', async () => {
      const provider = await startBindingProvider(SCRIPT);

      await runLoop(clientOf(provider, { reasoning: 'keep' }));

      const refused = provider.requests.findIndex(({ status }) => status === 400);
      const [given, sent] = provider.requests.slice(refused, refused + 2);
      expect(reasoningIn(given)).not.toEqual([]);
      expect(reasoningIn(sent)).toEqual([]);
      expect(sent?.status).toBe(200);
    });

    it('keeps it if thinking has a budget', async () => {
      const provider = await startStrictProvider(SCRIPT);

      await runLoop(clientOf(provider), {
        model: 'my-deployment',
        max_tokens: 4_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
      });

      expect(sentMessages(provider.requests.at(-1)!)).toHaveLength(5);
      expect(reasoningIn(provider.requests.at(-1))).toEqual(['I write.', 'I search.']);
    });

    it('keeps the reasoning with which a turn has to start', async () => {
      const [first, ...others] = SCRIPT;
      const silent = others.map(({ reasoning: _, ...rest }) => rest);
      const provider = await startStrictProvider([first!, ...silent]);

      await runLoop(clientOf(provider), {
        model: 'my-deployment',
        max_tokens: 4_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
      });

      expect(reasoningIn(provider.requests.at(-1))).toEqual(['I look.']);
    });

    it('keeps it if the API itself drops reasoning with another prefix', async () => {
      const provider = await startStrictProvider([ANSWER]);

      await clientOf(provider).beta.messages.create({
        ...REQUEST,
        messages: staleRead({ thinking: 'I look.' }),
        thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
      });

      expect(reasoningIn(provider.requests[0])).toHaveLength(2);
    });
  });

  describe('a request that it does not edit', () => {
    it('is a request of a thread that the server holds, which is logged once', async () => {
      const provider = await startStrictProvider([ANSWER, ANSWER]);
      const messages = staleRead();
      const warnings: string[] = [];
      const warn = (message: string) => void warnings.push(message);
      const logger = { debug: () => undefined, warn, error: () => undefined };
      const params = { ...REQUEST, messages, thread: { type: 'create' as const } };

      // An application may make an adapter for each run.
      for (let run = 0; run < 2; run += 1)
        await clientOf(provider, { logger }).beta.messages.create(params);

      expect(sentMessages(provider.requests[0]!)).toEqual(messages);
      expect(warnings).toEqual([expect.stringContaining('`thread: false`')]);
    });

    it('is any other request', async () => {
      const urls: string[] = [];
      const client = new Anthropic({
        apiKey: 'none',
        middleware: [compactionMiddleware(compactor)],
        fetch: (url) => {
          urls.push(new Request(url).url);
          return Promise.resolve(Response.json({ data: [], has_more: false }));
        },
      });

      await client.models.list();

      expect(urls).toHaveLength(1);
    });
  });

  it('compacts the body that an earlier middleware has written', async () => {
    const provider = await startStrictProvider([ANSWER]);
    const more = [say('Yes?'), ask('Go on.')];
    const first: Middleware = (request, next) => {
      const given = JSON.parse(request.body as string) as { readonly messages: MessageParam[] };
      const body = JSON.stringify({ ...given, messages: [...given.messages, ...more] });
      const headers = new Headers(request.headers);
      headers.set('content-length', String(Buffer.byteLength(body)));
      return next({ ...request, headers, body });
    };

    await clientOf(provider, { first }).messages.create({ ...REQUEST, messages: staleRead() });

    const messages = sentMessages(provider.requests[0]!);
    expect(messages).toHaveLength(7);
    expect(messages.slice(-2)).toEqual(more);
  });

  it('runs behind the middleware that handles refusals', async () => {
    const provider = await startStrictProvider([ANSWER]);
    const first = betaRefusalFallbackMiddleware([{ model: 'claude-opus-4-8' }]);

    await clientOf(provider, { first }).beta.messages.create({
      ...REQUEST,
      messages: staleRead(),
    });

    expect(sentMessages(provider.requests[0]!)).toHaveLength(5);
  });

  it('aborts a compaction with the signal of the request', async () => {
    const provider = await startStrictProvider([ANSWER]);
    const controller = new AbortController();
    // A summary that never arrives.
    const generate = vi.fn(() => {
      controller.abort();
      return new Promise<never>(() => {});
    });
    const endless = openCompactor({
      preset: 'specification',
      contextLimit: 4_000,
      settings: { 'compression.strategy': 'one-shot', 'compression.threshold': 0.1 },
      summarizer: { contextLimit: 100_000, generate },
    });
    const client = new Anthropic({
      apiKey: 'none',
      baseURL: provider.url,
      middleware: [compactionMiddleware(endless)],
    });

    const call = client.messages.create(
      { ...REQUEST, messages: staleRead() },
      { signal: controller.signal },
    );

    await expect(call).rejects.toThrow(Anthropic.APIUserAbortError);
    expect(generate).toHaveBeenCalledOnce();
    expect(provider.requests).toHaveLength(0);
  });

  it('throws the error of a compaction, without a retry', async () => {
    const provider = await startStrictProvider([ANSWER]);
    let sessions = 0;
    const client = clientOf(provider, {
      onError: 'throw',
      onSession: () => {
        sessions += 1;
        throw new RangeError('no session');
      },
    });

    await expect(client.messages.create({ ...REQUEST, messages: staleRead() })).rejects.toThrow(
      'no session',
    );
    expect(sessions).toBe(1);
  });

  it.each([false, true])('reports the usage of an answer (streamed: %s)', async (streamed) => {
    const provider = await startStrictProvider([ANSWER, ANSWER]);
    const learned: unknown[] = [];
    const client = clientOf(provider, {
      onSession: (session) => {
        const report = session.reportUsage.bind(session);
        session.reportUsage = (usage) => {
          learned.push(usage.inputTokens);
          return report(usage);
        };
      },
    });
    const messages = staleRead();

    for (let call = 0; call < 2; call += 1) {
      const params = { ...REQUEST, messages };
      const { content, usage } = streamed
        ? await client.messages.stream(params).finalMessage()
        : await client.messages.create(params);
      await expect.poll(() => learned).toHaveLength(call + 1);
      expect(learned.at(-1)).toBe(usage.input_tokens);
      messages.push({ role: 'assistant', content }, ask('And now?'));
    }
  });

  it.each([false, true])(
    'reports the tokens read from the cache to the session, without an overhead (streamed: %s)',
    async (streamed) => {
      const missed: unknown[] = [];
      const usages = [
        { input_tokens: 500, cache_read_input_tokens: 0, cache_creation_input_tokens: 9_500 },
        { input_tokens: 500, cache_read_input_tokens: 0, cache_creation_input_tokens: 10_500 },
        // Without marks, nothing is cached.
        { input_tokens: 12_000, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
        { input_tokens: 13_000, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
      ];
      const diagnostics = { cache_miss_reason: { type: 'tools_changed' } };
      const answers = usages.map((usage) => ({
        ...{ id: 'm', type: 'message', role: 'assistant', model: REQUEST.model, stop_reason: null },
        ...{ content: [], usage: { ...usage, output_tokens: 1 }, diagnostics },
      }));
      const middleware = compactionMiddleware(compactor, {
        onSession: (session) => session.on('cacheMissed', (event) => missed.push(event)),
      });
      const fetch = (): Promise<Response> => {
        const message = answers.shift();
        const start = JSON.stringify({ type: 'message_start', message });
        const stop = JSON.stringify({ type: 'message_stop' });
        const events = `event: message_start\ndata: ${start}\n\nevent: message_stop\ndata: ${stop}\n\n`;
        const type = streamed ? 'text/event-stream' : 'application/json';
        const body = streamed ? events : JSON.stringify(message);
        return Promise.resolve(new Response(body, { headers: { 'content-type': type } }));
      };
      const client = new Anthropic({ apiKey: 'none', fetch, middleware: [middleware] });
      const messages = staleRead();
      while (answers.length > 0) {
        const params = { ...REQUEST, cache_control: { type: 'ephemeral' }, messages } as const;
        if (streamed) await client.messages.stream(params).finalMessage();
        else await client.messages.create(params);
        messages.push(say('So be it.'), ask('And now?'));
      }
      expect(missed).toEqual([
        {
          ...{ expectedTokens: 10_000, readTokens: 0 },
          cause: 'changed-request',
          reason: 'tools_changed',
        },
      ]);
    },
  );

  it.each([
    ['claude-opus-5', undefined, 'cache-cold'],
    ['claude-opus-5', { type: 'ephemeral' }, 'reclaims-enough'],
    // Other models behind this API cache automatically.
    ['kimi-k2', undefined, 'reclaims-enough'],
  ] as const)(
    'knows that %s caches nothing without a mark (%j: %s)',
    async (model, mark, reason) => {
      const reasons = new Set<string>();
      const middleware = compactionMiddleware(compactor, {
        onError: 'throw',
        onSession: (session) => session.on('pruned', (event) => reasons.add(event.reason)),
      });
      const fetch = (): Promise<Response> => Promise.resolve(Response.json({ content: [] }));
      const client = new Anthropic({ apiKey: 'none', fetch, middleware: [middleware] });
      const messages: Anthropic.MessageParam[] = [ask('Go.')];
      for (let at = 0; at < 24; at += 1) {
        const input = { file_path: `/f${at >> 1}.ts`, content: 'x' };
        const name = at % 2 === 0 ? 'read_file' : 'write_file';
        const content = `${at} ${'lorem ipsum '.repeat(400)}`;
        messages.push(
          { role: 'assistant', content: [{ type: 'tool_use', id: `t${at}`, name, input }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content }] },
        );
        const params = { ...REQUEST, model, messages, ...(mark && { cache_control: mark }) };
        await client.messages.create(params);
      }
      reasons.delete('unsent');
      expect([...reasons]).toEqual([reason]);
    },
  );

  describe('in the tool runner', () => {
    const SCRIPT = [
      step('read_file', 'a.ts'),
      step('write_file', 'a.ts'),
      step('read_file', 'a.ts'),
    ];
    const tools = ['read_file', 'write_file'].map((name) => ({
      type: 'custom' as const,
      name,
      input_schema: { type: 'object' as const },
      parse: (input: unknown) => input,
      run: () => longText(name),
    }));
    const params = { ...REQUEST, tools, messages: [ask('Fix a.ts.')] };

    it('compacts a loop that sends all messages', async () => {
      const provider = await startStrictProvider([...SCRIPT, ANSWER]);
      const sessions: Session[] = [];
      const client = clientOf(provider, { onSession: (session) => sessions.push(session) });

      const message = await client.beta.messages.toolRunner({ ...params, thread: false });

      expect(message.content).toMatchObject([{ type: 'text', text: ANSWER.text }]);
      expect(provider.requests.map((request) => sentMessages(request).length)).toEqual([
        1, 3, 3, 5,
      ]);
      expect(sessions).toHaveLength(1);
    });

    it('leaves a loop alone if the server holds its messages', async () => {
      const provider = await startScriptedProvider({ script: [...SCRIPT, ANSWER] });
      onTestFinished(() => provider.close());

      await clientOf(provider).beta.messages.toolRunner(params);

      expect(provider.requests.map((request) => sentMessages(request).length)).toEqual([
        1, 1, 1, 1,
      ]);
    });
  });
});
