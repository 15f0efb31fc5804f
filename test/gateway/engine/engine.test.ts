import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createEngine } from '../../../src/gateway/engine/engine.js';
import type { Engine, EngineAnswer, EngineCall } from '../../../src/gateway/engine/protocol.js';
import { Session } from '../../../src/main/session.js';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import type { ApiTalk } from '../../support/api-talks.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

let engine: Engine;

beforeEach(async () => {
  engine = await createEngine({ maxConversations: 8, workspaceRoot: '/w' });
});

afterEach(() => engine.close());

function ask(
  api: ApiTalk,
  messages: readonly object[],
  more: Partial<EngineCall> & { besides?: object } = {},
): Promise<EngineAnswer> {
  const { besides, ...call } = more;
  return engine.compact({
    api: api.name,
    body: Buffer.from(bodyOf(api, messages, besides)),
    scope: 'one',
    ...call,
  });
}

/** Sends a conversation call by call; returns the id of each call's conversation. */
async function lines(
  api: ApiTalk,
  calls: readonly (readonly object[])[],
  more: Parameters<typeof ask>[2] = {},
): Promise<(string | undefined)[]> {
  const ids: (string | undefined)[] = [];
  for (const messages of calls) ids.push((await ask(api, messages, more)).conversation?.id);
  return ids;
}

const steps = (messages: readonly object[]): (readonly object[])[] =>
  messages.flatMap((_, at) => (at % 2 === 0 && at > 0 ? [messages.slice(0, at + 1)] : []));

describe.each(API_TALKS)('an engine, for $name', (api) => {
  it('learns from a usage once, and not from a call whose answer was cut off before the usage', async () => {
    const learned = vi.spyOn(Session.prototype, 'reportUsage');
    onTestFinished(() => learned.mockRestore());
    const calls = steps(talk(api, 4));
    const { conversation } = await ask(api, calls[0]!);
    const usage = { cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1 };
    engine.report(conversation!, { ...usage, inputTokens: 1_000 });
    for (const messages of calls.slice(1)) await ask(api, messages);
    // The answer to the first call ends after the other calls have begun.
    engine.report(conversation!, { ...usage, inputTokens: 1_000 });
    expect(learned).toHaveBeenCalledTimes(1);
  });

  it('attributes the calls of a conversation to one', async () => {
    const ids = await lines(api, steps(talk(api, 4)));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(new RegExp(`^${api.name}-[0-9a-f]{16}$`));
  });

  it('has one id for a conversation in all gateways with one store, though others begin with the same words', async () => {
    const store = temporaryFolder();
    const open = [1, 2].map(() => createEngine({ maxConversations: 16, store }));
    const gateways = await Promise.all(open);
    const known = new Map<string, Set<string | undefined>>();
    for (const [turn, end] of [1, 3, 5, 7].entries()) {
      for (const [at, name] of ['a', 'b', 'c'].entries()) {
        const one = JSON.stringify(talk(api, 3)).replace(/"([rw]\d)"/g, `"${name}$1"`);
        const messages = (JSON.parse(one) as object[]).slice(0, end);
        const call = { api: api.name, body: Buffer.from(bodyOf(api, messages)), scope: 'one' };
        const { conversation } = await gateways[(turn + (at >> turn)) % 2]!.compact(call);
        const isAnswered = JSON.stringify(messages).includes(`"${name}r0"`);
        const key = isAnswered ? name : 'not answered yet';
        known.set(key, (known.get(key) ?? new Set()).add(conversation?.id));
      }
    }
    await Promise.all(gateways.map((gateway) => gateway.close()));
    const ids = [...known.values()].flatMap((all) => [...all]);
    expect([ids.length, new Set(ids).size]).toEqual([4, 4]);
  });

  it('compacts more conversations concurrently than it keeps', async () => {
    const small = await createEngine({ maxConversations: 1, workspaceRoot: '/w' });
    onTestFinished(() => small.close());
    const compact = (name: string, steps: number): Promise<EngineAnswer> => {
      const body = Buffer.from(bodyOf(api, [api.user(name), ...talk(api, steps)]));
      return small.compact({ api: api.name, body, scope: 'one', name });
    };
    await compact('first', 5);
    const answers = await Promise.all([compact('first', 6), compact('second', 6)]);
    expect(answers.map(({ outcome }) => outcome)).toEqual(['edited', 'edited']);
    expect(answers.map(({ conversation }) => conversation?.name)).toEqual(['first', 'second']);
  });

  it('continues a conversation when the message at the end differs in each call', async () => {
    const calls = steps(talk(api, 4)).map((messages, at) => [
      ...messages,
      api.user(`it is ${at} o'clock`),
    ]);
    expect(new Set(await lines(api, calls)).size).toBe(1);
  });

  it('distinguishes sub-agents of one name, and continues each', async () => {
    const main = steps([api.user('first'), ...talk(api, 3)]);
    const sub = steps([api.user('look into it'), ...talk(api, 3)]);
    const ids = await lines(
      api,
      main.flatMap((messages, at) => [messages, sub[at]!]),
      { name: 'session' },
    );
    expect(new Set(ids.filter((_, at) => at % 2 === 0)).size).toBe(1);
    expect(new Set(ids.filter((_, at) => at % 2 === 1)).size).toBe(1);
    expect(new Set(ids).size).toBe(2);
  });

  it('distinguishes conversations of different names, users or upstreams that begin alike', async () => {
    const calls = steps(talk(api, 2));
    const [one] = await lines(api, calls, { name: 'a' });
    const [two] = await lines(api, calls, { name: 'b' });
    const [three] = await lines(api, calls, { name: 'a', scope: 'other' });
    expect(new Set([one, two, three]).size).toBe(3);
  });

  it('starts another conversation without a warning when the host replaces everything by a summary', async () => {
    const calls = steps(talk(api, 3));
    const summary = [
      api.user('what was so far: all is well'),
      api.answer('good'),
      api.user('go on'),
    ];
    const answers = [];
    for (const messages of [...calls, summary, [...summary, api.answer('yes'), api.user('now')]]) {
      answers.push(await ask(api, messages, { name: 'session' }));
    }
    expect(answers.flatMap(({ failures = [] }) => failures)).toEqual([]);
    const ids = answers.map(({ conversation }) => conversation?.id);
    expect(ids.at(-1)).toBe(ids.at(-2));
    expect(ids.at(-1)).not.toBe(ids[0]);
    expect(answers.at(-1)!.conversation!.isNew).toBe(false);
  });

  it('continues when the host summarizes or clears older messages, and keeps its edits', async () => {
    const messages = talk(api, 12);
    const calls = steps(messages);
    const kept = messages.slice(-24);
    const isRead = (message: object): boolean => JSON.stringify(message).includes('step 3 has');
    const cleared = messages.map((message, at) =>
      isRead(message) ? talk(api, 4, 1)[at]! : message,
    );
    for (const list of [[api.user('what was so far: all is well'), ...kept], cleared]) {
      const name = `session of ${list.length}`;
      const ids = await lines(api, calls, { name });
      const { conversation, editedBytes = Infinity } = await ask(api, list, { name });
      expect(conversation).toMatchObject({ id: ids[0], isNew: false, isRewritten: true });
      expect(conversation!.costs.requests).toBe(calls.length + 1);
      expect(editedBytes).toBeLessThan(bodyOf(api, list).length / 2);
      const next = [...list, api.answer('well'), api.user('and on')];
      const goesOn = { id: ids[0], isNew: false, isRewritten: false };
      expect((await ask(api, next, { name })).conversation).toMatchObject(goesOn);
    }
    const other = await ask(api, [api.user('look into it'), ...kept.slice(-2)], {
      name: 'session',
    });
    expect(other.conversation?.isNew).toBe(true);
  });

  it('continues when the host rewrites all messages, and removes everything stale, as no cache holds them', async () => {
    const messages = talk(api, 8);
    const calls = steps(messages);
    const [id] = await lines(api, calls, { name: 'session' });
    const before = (await ask(api, messages, { name: 'session' })).conversation!;
    // Like hosts that omit fields when they resume a session.
    const other = messages.map((message) => ({ ...message, note: 'kept' }));
    const list = [...other, api.answer('well'), api.user('and on')];
    const { conversation, editedBytes = Infinity } = await ask(api, list, { name: 'session' });
    expect(conversation).toMatchObject({ id, isNew: false, isRewritten: true });
    expect(editedBytes).toBeLessThan(bodyOf(api, list).length / 2);
    expect(conversation!.costs.rewrites).toBe(before.costs.rewrites);
    const read = (of: typeof before): readonly number[] =>
      [of.costs, of.costs.uncompacted].map(({ cacheReadTokens }) => cacheReadTokens);
    // The readers of the other APIs read the same content, which a cache may still hold.
    if (api.name === 'anthropic') expect(read(conversation!)).toEqual(read(before));
    const another = other.map((message, at) =>
      at < messages.length - 2 ? message : api.user('a'),
    );
    expect((await ask(api, another, { name: 'session' })).conversation?.isNew).toBe(true);
  });

  it('passes on side calls, and requests whose history the provider keeps', async () => {
    const messages = talk(api, 3);
    expect((await ask(api, messages, { besides: { tools: [] } })).outcome).toBe('passed');
    expect((await ask(api, messages, { passes: 'a side call, title' })).outcome).toBe('passed');
    const held = {
      anthropic: 'thread',
      responses: 'previous_response_id',
      chat: undefined,
      gemini: 'cachedContent',
    }[api.name];
    if (held === undefined) return;
    const { outcome, reason } = await ask(api, messages, { besides: { [held]: 'x' } });
    expect([outcome, reason]).toEqual(['passed', 'the provider keeps the history']);
  });

  it('reports each edit without the removed content, and returns that on request', async () => {
    const messages = talk(api, 16);
    const edits = [];
    let id = '';
    for (const sent of steps(messages)) {
      const { edits: fresh, conversation } = await ask(api, sent);
      edits.push(...fresh);
      id = conversation!.id;
    }
    expect(edits.length).toBeGreaterThan(3);
    expect(JSON.stringify(edits)).not.toContain('has seen');
    const { number } = edits.find(({ tool }) => tool === 'read_file')!;
    expect(await engine.original(id, number)).toContain('has seen');
    expect(await engine.original('another', number)).toBeUndefined();
  });
});

describe('an engine', () => {
  const [anthropic, responses, chat] = API_TALKS;

  const mark = (message: object): object => {
    const copy = structuredClone(message) as { content: Record<string, unknown>[] };
    copy.content.at(-1)!['cache_control'] = { type: 'ephemeral' };
    return copy;
  };

  it('ignores moving cache marks', async () => {
    const calls = steps(talk(anthropic!, 4)).map((messages) => [
      ...messages.slice(0, -1),
      mark(messages.at(-1)!),
    ]);
    expect(new Set(await lines(anthropic!, calls)).size).toBe(1);
  });

  it('gives a conversation the same id in all gateways with one store, wherever its cache marks are', async () => {
    const [first, ...rest] = talk(anthropic!, 2);
    const store = temporaryFolder();
    const ids: (string | undefined)[] = [];
    for (const messages of [
      [mark(first!), ...rest.slice(0, 2)],
      [first!, ...rest],
    ]) {
      const one = await createEngine({ maxConversations: 8, store });
      const body = Buffer.from(bodyOf(anthropic!, messages));
      const { conversation } = await one.compact({ api: 'anthropic', body, scope: 'one' });
      ids.push(conversation?.id);
      await one.close();
    }
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).toMatch(/-[0-9a-f]{32}$/);
  });

  it('reports once that states cannot be saved, without content', async () => {
    const store = join(temporaryFolder(), 'file');
    writeFileSync(store, 'no directory');
    const one = await createEngine({ maxConversations: 8, store });
    const failures: unknown[] = [];
    for (const count of [2, 4, 6, 8]) {
      const body = Buffer.from(bodyOf(anthropic!, talk(anthropic!, count)));
      const answer = await one.compact({ api: 'anthropic', body, scope: 'one' });
      expect(answer.conversation).toBeDefined();
      failures.push(...(answer.failures ?? []));
    }
    await one.close();
    expect(failures).toEqual([
      'the state of a session is not kept; it goes on without (CtxfoldError STORE_FAILED ENOTDIR)',
    ]);
  });

  it('reads the names that hosts send beside the messages', async () => {
    const id = '0b6e8a52-7c6b-4a5e-9a53-0d1b8f5a1c22';
    const nameOf = async (api: ApiTalk, besides: object): Promise<string | undefined> =>
      (await ask(api, talk(api, 2), { besides })).conversation?.name;
    expect(await nameOf(responses!, { prompt_cache_key: 'key-1' })).toBe('key-1');
    const user = `user_${'a'.repeat(64)}_account_${id.replace('0b', '99')}_session_${id}`;
    expect(await nameOf(anthropic!, { metadata: { user_id: user } })).toBe(id);
    const newer = JSON.stringify({ account_uuid: id.replace('0b', '99'), session_id: id });
    expect(await nameOf(anthropic!, { metadata: { user_id: newer } })).toBe(id);
    // A name may be an email address.
    expect(await nameOf(anthropic!, { metadata: { user_id: 'me@example.com' } })).toMatch(
      /^[0-9a-f]{16}$/,
    );
  });

  it('sends what was compacted before, and says why, when the messages cannot be made to fit', async () => {
    const small = await createEngine({ maxConversations: 8, contextLimit: 3_000 });
    onTestFinished(() => small.close());
    const messages = talk(chat!, 30);
    const send = async (list: readonly object[]): Promise<EngineAnswer> =>
      small.compact({ api: 'chat', body: Buffer.from(bodyOf(chat!, list)), scope: '' });
    expect((await send(messages)).failures).toBeUndefined();
    const tooLong = chat!.user('a word '.repeat(5_000));
    const answer = await send([...messages, chat!.answer('yes'), tooLong]);
    const { messages: sent } = JSON.parse(Buffer.from(answer.body!).toString()) as {
      readonly messages: readonly object[];
    };
    expect(sent.at(-1)).toEqual(tooLong);
    expect(sent.length).toBeLessThan(messages.length / 2);
    expect(answer.failures).toEqual([
      'compaction failed; what was compacted before is sent (ContextWindowExceededError CONTEXT_WINDOW_EXCEEDED)',
    ]);
  });

  it('reports a compression with its strategy and the approximate saving', async () => {
    const small = await createEngine({ maxConversations: 8, contextLimit: 3_000 });
    onTestFinished(() => small.close());
    const turn = [chat!.user('go on'), chat!.answer('a word '.repeat(100))];
    const messages = [...Array.from({ length: 20 }, () => turn).flat(), chat!.user('so?')];
    const body = Buffer.from(bodyOf(chat!, messages));
    const { edits } = await small.compact({ api: 'chat', body, scope: '' });
    expect(edits).toMatchObject([{ number: 0, rule: 'compression', action: 'high-density' }]);
    expect(edits[0]?.after).toBeLessThan(edits[0]!.before / 2);
  });

  it('passes on the compactions of Codex', async () => {
    const messages = [...talk(responses!, 3), { type: 'compaction_trigger' }];
    expect((await ask(responses!, messages)).reason).toBe('a compaction by the provider');
  });

  it.each([
    '',
    '[]',
    '{"messages":[{]}',
    '{"messages":[1]}',
    '{"messages":[]}',
    '{"messages":[{"role":"user"}],"messages":[{}],"tools":[{}]}',
    '\u{feff}{}',
  ])('passes on the body %j', async (text) => {
    const { outcome, body } = await engine.compact({
      api: 'chat',
      body: Buffer.from(text),
      scope: '',
    });
    expect(outcome).toBe('passed');
    expect(body).toBeUndefined();
  });

  it('passes on a body that is no UTF-8', async () => {
    const body = Buffer.from(
      bodyOf(chat!, talk(chat!, 30)).replaceAll('line', 'l\u00e9ne'),
      'latin1',
    );
    expect(await engine.compact({ api: 'chat', body, scope: '' })).toMatchObject({
      outcome: 'passed',
    });
  });

  it('compacts a conversation again that was evicted by others', async () => {
    const [api, other] = [API_TALKS[2]!, API_TALKS[0]!];
    const small = await createEngine({ maxConversations: 2, workspaceRoot: '/w' });
    const send = (of: ApiTalk, messages: readonly object[]): Promise<EngineAnswer> =>
      small.compact({ api: of.name, body: Buffer.from(bodyOf(of, messages)), scope: 'one' });
    const { conversation } = await send(api, talk(api, 9));
    for (const task of ['a', 'b']) await send(other, [other.user(task)]);
    expect(await send(api, talk(api, 10))).toMatchObject({
      outcome: 'edited',
      conversation: { id: conversation?.id, isNew: true, givenMessages: talk(api, 10).length },
    });
    await small.close();
  });

  it('counts the tools and system texts of a request towards the window', async () => {
    const words = 'What was said of it then. '.repeat(80);
    const messages = Array.from({ length: 27 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: `${at}. ${words}`,
    }));
    const sentWith = async (description: string): Promise<number> => {
      const options = { maxConversations: 2, workspaceRoot: '/w', contextLimit: 20_000 };
      const small = await createEngine(options);
      const tools = [{ name: 'look', description, input_schema: { type: 'object' } }];
      const body = Buffer.from(JSON.stringify({ messages, tools }));
      const { conversation } = await small.compact({ api: 'anthropic', body, scope: 'one' });
      await small.close();
      return conversation!.costs.sentTokens;
    };
    const [few, many] = [await sentWith('Looks.'), await sentWith('Looks. '.repeat(5_000))];
    expect(few).toBeGreaterThan(12_000);
    expect(many).toBeLessThan(20_000 - 35_000 / 5);
  });

  it('writes no body for an observed request, and reports its length', async () => {
    const [api] = API_TALKS;
    const messages = talk(api!, 9);
    const { body, editedBytes, ...compacted } = await ask(api!, messages);
    expect(editedBytes).toBe(body!.length);
    const other = await createEngine({ maxConversations: 8, workspaceRoot: '/w' });
    const observed = await other.compact({
      ...{ api: api!.name, body: Buffer.from(bodyOf(api!, messages)), scope: 'one' },
      isObserved: true,
    });
    expect(observed).toEqual({ ...compacted, body: undefined, editedBytes });
    await other.close();
  });

  it('reads the model beside a wrapped request', async () => {
    const contents = talk(API_TALKS[3]!, 3);
    const request = { contents, session_id: 'abc', tools: [{ functionDeclarations: [] }] };
    const body = Buffer.from(JSON.stringify({ model: 'gemini-2.5-pro', project: 'p', request }));
    const { conversation } = await engine.compact({ api: 'code-assist', body, scope: 'one' });
    expect(conversation).toMatchObject({
      model: 'gemini-2.5-pro',
      name: 'abc',
      contextLimit: 1_048_576,
    });
  });

  it('returns one-off messages byte for byte if nothing is edited', async () => {
    const odd = '{"id":12345678901234567890,"large":1e400,"zero":-0,"one":1.0,"a":1,"a":2}';
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    for (const input of [odd, deep]) {
      const list = `[ {"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${input}}]},\n{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}]`;
      const body = Buffer.from(`{"format":"anthropic","messages":${list}}`);
      const { status, body: said } = await engine.compactOnce(body);
      expect(status).toBe(200);
      expect(Buffer.from(said).toString()).toContain(`"messages":${list},"tokensBefore":`);
    }
  });

  it('compacts one-off messages in all formats', async () => {
    for (const api of API_TALKS) {
      const messages = talk(api, 20);
      const body = Buffer.from(JSON.stringify({ format: api.name, messages, model: 'gpt-5.5' }));
      const { status, body: answer } = await engine.compactOnce(body);
      expect(status).toBe(200);
      const said = JSON.parse(Buffer.from(answer).toString()) as {
        messages: object[];
        tokensBefore: number;
        tokensAfter: number;
      };
      expect(said.tokensAfter).toBeLessThan(said.tokensBefore * 0.7);
      expect(JSON.stringify(said.messages).length).toBeLessThan(
        JSON.stringify(messages).length * 0.7,
      );
    }
  });

  it('makes one-off messages fit the given window', async () => {
    const [api] = API_TALKS;
    const messages = talk(api!, 20);
    const sizes = [undefined, null, 600].map(async (contextLimit) => {
      const body = Buffer.from(JSON.stringify({ format: api!.name, messages, contextLimit }));
      const { status, body: answer } = await engine.compactOnce(body);
      expect(status).toBe(200);
      return (JSON.parse(Buffer.from(answer).toString()) as { tokensAfter: number }).tokensAfter;
    });
    const [usual, same, small] = await Promise.all(sizes);
    expect(same).toBe(usual);
    expect(small).toBeLessThanOrEqual(600);
    expect(usual).toBeGreaterThan(600);
  });

  it.each([
    ['no', 'expected a JSON object.'],
    [
      '{"messages":[]}',
      'expected "messages", a list of objects in UTF-8, and as "format" one of anthropic, responses, chat, gemini.',
    ],
    [
      '{"format":"chat"}',
      'expected "messages", a list of objects in UTF-8, and as "format" one of anthropic, responses, chat, gemini.',
    ],
    ['{"input":[],"model":1}', 'expected "model" to be a string.'],
    ['{"input":[],"contextLimit":0}', 'expected "contextLimit" to be a number of tokens.'],
  ])('names the error in %s', async (body, message) => {
    const { status, body: said } = await engine.compactOnce(Buffer.from(body));
    expect([status, Buffer.from(said).toString()]).toEqual([400, message]);
  });

  it('returns one-off messages unchanged when compaction fails', async () => {
    const body = Buffer.from('{"format":"chat","messages":[{"role":"tool"}]}');
    const { status, body: said } = await engine.compactOnce(body);
    expect(status).toBe(200);
    expect(JSON.parse(Buffer.from(said).toString())).toMatchObject({
      messages: [{ role: 'tool' }],
      error: 'TypeError',
    });
  });
});
