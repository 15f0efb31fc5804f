// Requests for the number of tokens of messages, by which agents decide whether there is room; and side calls.

import { beforeEach, describe, expect, it } from 'vitest';
import { API_TALKS, bodyOf, talk } from '../../support/api-talks.js';
import type { ApiTalk } from '../../support/api-talks.js';
import { gatewayWorld } from '../../support/gateway-world.js';
import type { GatewayWorld } from '../../support/gateway-world.js';

const COUNTS: Readonly<Partial<Record<ApiTalk['name'], string>>> = {
  anthropic: '/v1/messages/count_tokens?beta=true',
  responses: '/v1/responses/input_tokens',
  gemini: '/v1beta/models/gemini-2.5-pro:countTokens',
};
const COUNTED = API_TALKS.filter(({ name }) => name in COUNTS);

let world: GatewayWorld;

beforeEach(async () => {
  world = await gatewayWorld({ mode: 'compact', dry: ['dry'] });
});

interface Body {
  readonly [list: string]: object[];
}

/** Sends a request; returns its body as received and as sent on. */
async function sent(path: string, body: string, headers = {}): Promise<readonly [string, string]> {
  await world.send(path, { body, headers });
  return [body, world.received.at(-1)!.body.toString()];
}

/** Has messages counted like agents do: without tools and without the name of the conversation. */
const counted = (api: ApiTalk, messages: readonly object[], headers = {}) =>
  sent(COUNTS[api.name]!, JSON.stringify({ [api.list]: messages }), headers);

const listIn = (api: ApiTalk, body: string): object[] => (JSON.parse(body) as Body)[api.list]!;

async function conversations(): Promise<readonly { readonly calls: number }[]> {
  const { body } = await world.send('/ctxfold/state', { method: 'GET' });
  return (JSON.parse(body.toString()) as { conversations: { calls: number }[] }).conversations;
}

describe.each(COUNTED)('a count of tokens, for $name', (api) => {
  const messages = talk(api, 6);
  const more = [api.answer('done'), api.user('and now this')];

  /** Plays a conversation; returns its last request, as received and as sent on. */
  const play = async (headers = {}): Promise<readonly [string, string]> => {
    await sent(api.path, bodyOf(api, messages.slice(0, -4)), headers);
    return sent(api.path, bodyOf(api, messages), headers);
  };

  it('counts the messages as last sent, and what follows', async () => {
    const [given, left] = await play();
    expect(left.length).toBeLessThan(given.length / 2);
    const [, asked] = await counted(api, [...messages, ...more]);
    expect(listIn(api, asked)).toEqual([...listIn(api, left), ...more]);
    const [, again] = await sent(api.path, bodyOf(api, [...messages, ...more]));
    expect(listIn(api, again)).toEqual(listIn(api, asked));
  });

  it('finds a conversation by its messages if only other requests carry its name', async () => {
    const [, left] = await play({ 'session-id': 'mine' });
    const [, asked] = await counted(api, [...messages, ...more]);
    expect(listIn(api, asked)).toEqual([...listIn(api, left), ...more]);
    expect((await counted(api, messages, { 'session-id': 'other' })).at(1)).toBe(
      JSON.stringify({ [api.list]: messages }),
    );
  });

  it('is no call of the conversation, and does not change it', async () => {
    await play();
    await counted(api, [...messages, ...more]);
    expect((await conversations()).map(({ calls }) => calls)).toEqual([2]);
  });

  it.each([
    ['other messages', [api.user('what is this?')], {}],
    ['fewer messages than were sent', messages.slice(0, -4), {}],
    ['a conversation that is only observed', [...messages, ...more], { 'session-id': 'dry' }],
  ])('is sent on unchanged for %s', async (_, asked, headers) => {
    await play(headers);
    const [given, left] = await counted(api, asked, headers);
    expect(left).toBe(given);
  });

  it('is sent on unchanged and unread in mode observe', async () => {
    world = await gatewayWorld({ mode: 'observe' });
    await play();
    const [given, left] = await counted(api, [...messages, ...more]);
    expect(left).toBe(given);
  });
});

it.each(COUNTED)(
  'a count of tokens has the messages of the request, also if most were removed, for $name',
  async (api) => {
    world = await gatewayWorld({ mode: 'compact', contextLimit: 6_000 });
    const text = (step: number): string =>
      Array.from({ length: 80 }, (_, at) => `line ${at} of ${step}`).join('\n');
    const messages = [api.user('look')];
    for (let step = 0; step < 16; step += 1) {
      const path = `src/${step}.ts`;
      // Two messages of one role: once the first one's call is removed, they are joined for Gemini.
      messages.push(...api.use(`r${step}`, 'read_file', { path }, text(step)), api.user('go on'));
      const [, left] = await sent(api.path, bodyOf(api, messages));
      const [, asked] = await counted(api, messages);
      expect(listIn(api, asked)).toEqual(listIn(api, left));
    }
    const [given, asked] = await counted(api, messages);
    expect(asked.length).toBeLessThan(given.length / 2);
  },
);

describe.each(API_TALKS)('a side call, for $name', (api) => {
  const messages = talk(api, 6);
  const more = [api.answer('done'), api.user('Summarize all of this.')];

  const play = async (): Promise<string> => {
    await sent(api.path, bodyOf(api, messages.slice(0, -4)));
    return (await sent(api.path, bodyOf(api, messages)))[1];
  };

  it('that continues a conversation, for example to summarize it, has the messages as last sent, which fit and are cached', async () => {
    const left = await play();
    const [given, asked] = await sent(api.path, bodyOf(api, [...messages, ...more], { tools: [] }));
    expect(listIn(api, asked)).toEqual([...listIn(api, left), ...more]);
    expect(asked.length).toBeLessThan(given.length / 2);
    expect((await conversations()).map(({ calls }) => calls)).toEqual([2]);
  });

  it.each([
    ['is about something else', [api.user('what is this?')], {}],
    ['is signed', [...messages, ...more], { 'content-digest': 'sha-256=:x:' }],
  ])('is sent on unchanged if it %s', async (_, asked, headers) => {
    await play();
    const [given, left] = await sent(api.path, bodyOf(api, asked, { tools: [] }), headers);
    expect(left).toBe(given);
  });
});

it.each([
  ['anthropic', [], { compaction: { type: 'summarize' } }],
  ['responses', [{ type: 'compaction_trigger' }], {}],
])(
  'a request for a compaction has the messages as last sent, for %s',
  async (name, tail, besides) => {
    const api = API_TALKS.find((each) => each.name === name)!;
    const messages = talk(api, 6);
    await sent(api.path, bodyOf(api, messages.slice(0, -4)));
    const [, left] = await sent(api.path, bodyOf(api, messages));
    const [given, asked] = await sent(api.path, bodyOf(api, [...messages, ...tail], besides));
    expect(listIn(api, asked)).toEqual([...listIn(api, left), ...tail]);
    expect(asked.length).toBeLessThan(given.length / 2);
  },
);

it('a request to a separate endpoint for compaction, like that of Codex, has the messages as last sent', async () => {
  const api = API_TALKS.find(({ name }) => name === 'responses')!;
  const messages = talk(api, 6);
  await sent(api.path, bodyOf(api, messages.slice(0, -4)));
  const [, left] = await sent(api.path, bodyOf(api, messages));
  const compacted = (...asked: object[]) => sent('/v1/responses/compact', bodyOf(api, asked));
  const [, asked] = await compacted(...messages);
  expect(listIn(api, asked)).toEqual(listIn(api, left));
  expect((await conversations()).map(({ calls }) => calls)).toEqual([2]);
  const [given, others] = await compacted(api.user('what is this?'));
  expect(others).toBe(given);
});

it('a count of tokens has no more cache marks than it was given', async () => {
  const [api] = COUNTED;
  /** Marks the last two messages, like agents do. */
  const marked = (messages: readonly object[]): object[] =>
    (structuredClone(messages) as { content: object[] }[]).map((message, at) => {
      if (at < messages.length - 2) return message;
      const [part, ...rest] = message.content;
      return { ...message, content: [{ ...part, cache_control: { type: 'ephemeral' } }, ...rest] };
    });
  const text = Array.from({ length: 60 }, (_, at) => `line ${at} of it`).join('\n');
  const read = (id: string) => api!.use(id, 'read_file', { path: 'src/a.ts' }, text);
  const messages = [api!.user('look'), ...read('one'), ...read('two')];
  const [given, left] = await sent(api!.path, bodyOf(api!, marked(messages)));
  // The marked result becomes a reference to the previous one.
  expect(left.length).toBeLessThan(given.length - 500);
  const [, asked] = await counted(
    api!,
    marked([...messages, api!.answer('done'), api!.user('and now this')]),
  );
  expect(asked.split('cache_control')).toHaveLength(3);
});

it('a count of tokens begins the turn with its reasoning, like the request', async () => {
  const [api] = COUNTED;
  const messages = talk(api!, 6).map((message, at) => {
    const { content } = message as { content: object[] };
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2lnbmVk' };
    return at === 1 ? { ...message, content: [thinking, ...content] } : message;
  });
  const besides = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
  const [given, left] = await sent(api!.path, bodyOf(api!, messages, besides));
  expect(left.length).toBeLessThan(given.length);
  expect(left).toContain('c2lnbmVk');
  const [, asked] = await counted(api!, messages);
  expect(listIn(api!, asked)).toEqual(listIn(api!, left));
});
