// The cache mark in front of an edit, through the real SDK and the gateway's engine, with a provider that caches at marks, looks
// back twenty positions, and refuses the marks that Anthropic refuses.

import { createAnthropic } from '@ai-sdk/anthropic';
import type { AnthropicProvider } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { generateText, jsonSchema, wrapLanguageModel } from 'ai';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';

import { compactionMiddleware as promptMiddleware, prepareStep } from '../../../src/ai-sdk.js';
import { compactingFetch, compactionMiddleware } from '../../../src/anthropic.js';
import { withBreakpointBefore } from '../../../src/adapters/anthropic/cache-breakpoint.js';
import {
  isSameButForCacheMarks,
  withoutCacheMarks,
} from '../../../src/adapters/format/cache-marks.js';
import { createEngine } from '../../../src/gateway/engine/engine.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { modelPrice } from '../../../src/main/models/model-prices.js';
import type { JsonRecord } from '../../../src/shared/json.js';
import { CachingProvider, tokensOf } from '../../support/caching-provider.js';
import { cachedRequestOf, marksOf, refusalOfMarks } from '../../support/marked-request.js';
import { length, pairs, runs, sample, sightings } from '../../support/scale.js';
import { arbitraryMessages } from './arbitrary-messages.js';
import { ask, say } from './conversations.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { openCompactor } from '../../support/open-compactor.js';

type Messages = Anthropic.MessageParam[];

const MODEL = 'claude-sonnet-4-6';
const TOOLS = [{ name: 'search', input_schema: { type: 'object' } }];
const REQUEST = { model: MODEL, max_tokens: 9, tools: TOOLS };
const SYSTEM = [{ type: 'text', text: 'Be careful. '.repeat(500) }];
const SHORT = { type: 'ephemeral' };
const LONG = { type: 'ephemeral', ttl: '1h' };

/** Sends a request; returns the body that the provider received. */
type Send = (body: JsonRecord) => Promise<JsonRecord>;
/** Opens a connection to the provider for one conversation. */
type Door = () => Send;

/** Answers every request, and keeps the body of the last one. */
class RecordingProvider {
  sent: JsonRecord = {};

  readonly fetch: typeof globalThis.fetch = (_, init) => {
    this.sent = JSON.parse(init?.body as string) as JsonRecord;
    const content = [{ type: 'text', text: '.' }];
    const usage = { input_tokens: 0, output_tokens: 1 };
    const answer = { id: 'm', type: 'message', role: 'assistant', model: MODEL, content, usage };
    return Promise.resolve(Response.json({ ...answer, stop_reason: 'end_turn' }));
  };
}

const throughSdk: Door = () => {
  const compactor = openCompactor();
  const provider = new RecordingProvider();
  const client = new Anthropic({
    ...{ apiKey: 'none', maxRetries: 0, fetch: provider.fetch },
    middleware: [compactionMiddleware(compactor, { edits: 'every-turn', reasoning: 'keep' })],
  });
  return async (body) => {
    await client.messages.create(body as never);
    return provider.sent;
  };
};

/** The gateway edits when that pays by price. */
const throughGateway: Door = () => {
  const made = createEngine({ maxConversations: 8 });
  onTestFinished(async () => (await made).close());
  return async (body) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const answer = await (await made).compact({ api: 'anthropic', body: bytes, scope: 'one' });
    expect(answer.outcome).not.toBe('failed');
    return answer.body === undefined
      ? body
      : (JSON.parse(Buffer.from(answer.body).toString()) as JsonRecord);
  };
};

/** The same conversation in the format of the AI SDK; compares what its Anthropic package sends. */
const throughAiSdk: Door = () =>
  openAiSdk((compactor, model) => ({
    model: wrapLanguageModel({
      model,
      middleware: promptMiddleware(compactor, { edits: 'every-turn', reasoning: 'keep' }),
    }),
  }));

const throughSteps: Door = () =>
  openAiSdk((compactor, model) => ({
    model,
    prepareStep: prepareStep(compactor, { edits: 'every-turn', reasoning: 'keep' }),
  }));

function openAiSdk(
  use: (compactor: Compactor, model: ReturnType<AnthropicProvider>) => object,
): Send {
  const compactor = openCompactor();
  const provider = new RecordingProvider();
  const used = use(compactor, createAnthropic({ apiKey: 'none', fetch: provider.fetch })(MODEL));
  return async (body) => {
    const { system, messages, tools } = body as {
      readonly system: readonly Fields[];
      readonly messages: readonly { readonly content: string | readonly Fields[] }[];
      readonly tools: readonly { readonly name: string; readonly input_schema: object }[];
    };
    await generateText({
      ...used,
      maxOutputTokens: 9,
      maxRetries: 0,
      allowSystemInMessages: true,
      messages: [
        ...system.map((part) => ({ role: 'system', content: part['text'], ...optionsOf(part) })),
        ...messages.map(sdkMessage),
      ] as never,
      tools: Object.fromEntries(
        tools.map(({ name, input_schema }) => [name, { inputSchema: jsonSchema(input_schema) }]),
      ),
      ...optionsOf(body),
    } as never);
    return provider.sent;
  };
}

type Fields = Readonly<Record<string, unknown>>;

function optionsOf({ cache_control: mark, signature }: Fields): Fields {
  const anthropic = { ...(mark !== undefined && { cacheControl: mark }), signature };
  return { providerOptions: { anthropic } };
}

function sdkMessage({ content, ...message }: { content: string | readonly Fields[] }): Fields {
  if (typeof content === 'string')
    return { ...message, content: [{ type: 'text', text: content }] };
  const parts = content.map((part) => {
    const { type, id: toolCallId, name: toolName, input, content: value, thinking: text } = part;
    const options = optionsOf(part);
    if (type === 'thinking') return { type: 'reasoning', text, ...options };
    if (type === 'tool_use') return { type: 'tool-call', toolCallId, toolName, input, ...options };
    if (type !== 'tool_result') return { type, text: part['text'], ...options };
    const answered = { toolCallId: part['tool_use_id'], toolName: 'x' };
    return { type: 'tool-result', ...answered, output: { type: 'text', value }, ...options };
  });
  return { ...message, ...(parts[0]?.type === 'tool-result' && { role: 'tool' }), content: parts };
}

/** The list with marks on its last `count` user messages. */
function marked(messages: Messages, count: number, mark: object = SHORT): Messages {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-count);
  return messages.map((message, at) =>
    count > 0 && users.includes(at) ? withMark(message, mark) : message,
  );
}

function withMark(message: Anthropic.MessageParam, mark: object): Anthropic.MessageParam {
  const { content } = message;
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : [...content];
  const last = { ...parts.at(-1), cache_control: mark };
  return { ...message, content: [...parts.slice(0, -1), last] as never };
}

/** A call with a result of some lines. */
function use(id: string, name: string, path: string, lines: number, thinking?: string): Messages {
  const content = Array.from({ length: lines }, (_, at) => `const ${id}${at} = ${at * 7};`);
  const thought = { type: 'thinking' as const, thinking: thinking ?? '', signature: `s${id}` };
  const call = { type: 'tool_use' as const, id, name, input: { file_path: path } };
  return [
    { role: 'assistant', content: thinking === undefined ? [call] : [thought, call] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: content.join('\n') }],
    },
  ];
}

/** A long read far in front of the write that makes it stale. Little follows it, so that removing it pays. */
function staleReadFarBack(thinking?: string): Messages {
  const searches = (from: number, lines: number): Messages =>
    Array.from({ length: 12 }, (_, at) =>
      use(`t${from + at}_`, 'search', `${from + at}.ts`, lines, thinking),
    ).flat();
  return [
    ask('Fix a.ts.'),
    ...searches(0, 60),
    ...use('read', 'read_file', 'a.ts', 1_500),
    ...searches(100, 5),
    ...use('write', 'write_file', 'a.ts', 1),
    say('Done.'),
    ask('And now?'),
    ...use('last', 'search', 'b.ts', 1),
  ];
}

interface Sent {
  readonly body: JsonRecord;
  readonly readTokens: number;
  readonly inputTokens: number;
}

/** Sends a conversation call by call, and skips calls that no test checks: each takes a while. */
async function play(
  send: Send,
  messages: Messages,
  besides: JsonRecord,
  mark: (so: Messages) => Messages,
  isLeftOut = (at: number): boolean => at < 20 || (at > 27 && at < 48),
): Promise<readonly Sent[]> {
  const provider = new CachingProvider(modelPrice(MODEL)!, () => 0);
  const all: Sent[] = [];
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'user' || isLeftOut(at)) continue;
    const so = mark(messages.slice(0, at + 1));
    const body = await send(deepFreeze({ ...REQUEST, ...besides, messages: so }));
    expect(refusalOfMarks(body)).toBeUndefined();
    all.push({ body, ...provider.take(cachedRequestOf(body)) });
  }
  return all;
}

const messagesOf = ({ body }: Pick<Sent, 'body'>): Messages => body['messages'] as Messages;

/** The request that lacks a message of the one before. */
function editIn(all: readonly Sent[]): { at: number; unchanged: number } {
  for (const [at, sent] of all.entries()) {
    const former = messagesOf(all[at - 1] ?? sent);
    const now = messagesOf(sent);
    const unchanged = former.findIndex((one, place) => !isSameButForCacheMarks(one, now[place]));
    if (unchanged > 0) return { at, unchanged };
  }
  throw new Error('no edit');
}

const tokensBefore = (sent: Sent, count: number): number =>
  messagesOf(sent)
    .slice(0, count)
    .reduce((sum, message) => sum + tokensOf(JSON.stringify(withoutCacheMarks(message))), 0);

const DOORS: readonly [string, Door][] = [
  ['the middleware', throughSdk],
  ['the AI SDK', throughAiSdk],
  ['a loop of the AI SDK', throughSteps],
  ['the gateway', throughGateway],
];
/** One for each format of messages. */
const FORMATS = DOORS.slice(0, 2);
const BESIDES = { system: [{ ...SYSTEM[0], cache_control: SHORT }] };

describe.each(DOORS)('a mark in front of an edit, through %s', (_, open) => {
  it('lets the edited request read the cache up to the edit', async () => {
    const all = await play(open(), staleReadFarBack(), BESIDES, (so) => marked(so, 2));
    const { at, unchanged } = editIn(all);
    expect(unchanged).toBeGreaterThan(20);
    expect(all[at]!.readTokens).toBeGreaterThan(0.95 * tokensBefore(all[at]!, unchanged));
    expect(all.map(({ body }) => marksOf(body).length).slice(at - 1, at + 2)).toEqual([3, 4, 3]);
    // The next request reads the cache entries of this one.
    expect(all[at + 1]!.readTokens).toBeGreaterThan(0.95 * all[at]!.inputTokens);
  });
});

describe.each(FORMATS)('a mark in front of an edit, by format of %s', (_, open) => {
  it('counts as one of the four marks allowed, and is never the last one', async () => {
    const all = await play(open(), staleReadFarBack(), BESIDES, (so) => marked(so, 3));
    const { at, unchanged } = editIn(all);
    const { body, readTokens } = all[at]!;
    expect(readTokens).toBeGreaterThan(0.95 * tokensBefore(all[at]!, unchanged));
    expect(marksOf(body)).toHaveLength(4);
    expect(all[at + 1]!.readTokens).toBeGreaterThan(0.95 * all[at]!.inputTokens);
    // None of the others can be moved.
    const full = [...BESIDES.system, ...BESIDES.system, ...BESIDES.system];
    const own = await play(open(), staleReadFarBack(), { system: full }, (so) => marked(so, 1));
    const unmoved = own[editIn(own).at]!;
    expect(marksOf(unmoved.body)).toHaveLength(4);
    expect(unmoved.readTokens).toBe(tokensOf(cachedRequestOf(unmoved.body).head));
  });

  it('has the lifetime of the mark behind it, also of the automatic one', async () => {
    const long = [{ ...SYSTEM[0], cache_control: LONG }];
    for (const [mark, isAutomatic] of pairs([SHORT, LONG], [false, true])) {
      const besides = { system: long, ...(isAutomatic && { cache_control: mark }) };
      const all = await play(open(), staleReadFarBack(), besides, (so) =>
        isAutomatic ? so : marked(so, 1, mark),
      );
      const marks = marksOf(all[editIn(all).at]!.body);
      expect(marks.map((one) => one.mark)).toEqual([LONG, mark, mark]);
    }
  });

  it('is never on reasoning, and not in requests that cache no messages', async () => {
    const all = await play(open(), staleReadFarBack('Hm.'), BESIDES, (so) => marked(so, 1));
    expect(marksOf(all[editIn(all).at]!.body)).toHaveLength(3);
    const none = await play(open(), staleReadFarBack(), BESIDES, (so) => so);
    expect(none.every(({ body }) => marksOf(body).length === 1)).toBe(true);
  });
});

/** Tool fields that count as marks, so that no mark is added, and fields of the same length that do not. */
const FULL = toolsWith('cache_control');
const FREE = toolsWith('cache-control');

function toolsWith(field: string): JsonRecord {
  const input_schema = { type: 'object', properties: { [field]: { type: 'string' } } };
  return { tools: [1, 2, 3, 4].map((at) => ({ name: `search${at}`, input_schema })) };
}

const SESSIONS = fc.record({
  steps: fc.array(
    fc.record({
      name: fc.constantFrom('read_file', 'read_file', 'write_file', 'search'),
      path: fc.constantFrom('a.ts', 'b.ts', 'c.ts', 'd.ts'),
      lines: fc.constantFrom(1, 5, 60, 400),
      thinking: fc.constantFrom(undefined, undefined, 'Hm.'),
      endsTurn: fc.constantFrom(false, false, false, true),
    }),
    { minLength: 10, maxLength: length(40) },
  ),
  own: fc.record({
    system: fc.constantFrom([], [SHORT], [LONG], [LONG, SHORT]),
    users: fc.nat(3),
    isAutomatic: fc.boolean(),
    ttl: fc.constantFrom(SHORT, SHORT, LONG),
  }),
});

describe('a request that is repeated', () => {
  it('has the same mark again, and a count of its tokens has none', async () => {
    const compactor = openCompactor();
    const bodies: JsonRecord[] = [];
    const send = compactingFetch(
      compactor,
      { edits: 'every-turn', reasoning: 'keep' },
      (_, init) => {
        bodies.push(JSON.parse(init?.body as string) as JsonRecord);
        const error = { type: 'overloaded_error', message: 'Overloaded' };
        return Promise.resolve(Response.json({ type: 'error', error }, { status: 529 }));
      },
    );
    const messages = staleReadFarBack();
    const post = (so: Messages, path = ''): Promise<Response> =>
      send(`https://api.anthropic.com/v1/messages${path}`, {
        method: 'POST',
        body: JSON.stringify({ ...REQUEST, messages: marked(so, 2) }),
      });
    await post(messages.slice(0, 51));
    for (let time = 0; time < 3; time += 1) await post(messages.slice(0, 53));
    await post(messages.slice(0, 53), '/count_tokens');
    await post(messages.slice(0, 55));
    const [first, ...repeated] = bodies.slice(1, 4);
    expect(repeated).toEqual([first, first]);
    expect(bodies.map((body) => marksOf(body).length)).toEqual([2, 3, 3, 3, 2, 2]);
  });
});

describe.each(sample(DOORS, 2))('random sessions with random marks, through %s', (_, open) => {
  it('are never refused, and an added mark changes nothing else', async () => {
    let added = 0;
    await fc.assert(
      fc.asyncProperty(SESSIONS, async ({ steps, own }) => {
        const { users, isAutomatic, ttl } = own;
        // No longer lifetime behind a shorter one, and at most four marks.
        const lasting = own.system.slice(0, isAutomatic ? 3 - users : 4 - users);
        const mark = lasting.includes(SHORT) ? SHORT : ttl;
        const besides = {
          system: [{ type: 'text', text: 'Hi.' }, ...lasting.map((one) => systemText(one))],
          ...(isAutomatic && { cache_control: mark }),
        };
        const messages = [
          ask('Go.'),
          ...steps.flatMap(({ name, path, lines, thinking, endsTurn }, at) => [
            ...use(`t${at}_`, name, path, lines, thinking),
            ...(endsTurn ? [say('Done.'), ask('Go on.')] : []),
          ]),
        ];
        const isEarly = (at: number): boolean => at < 20;
        const agent = (so: Messages): Messages => marked(so, users, mark);
        const sent = await play(open(), messages, { ...besides, ...FREE }, agent, isEarly);
        const plain = await play(open(), messages, { ...besides, ...FULL }, agent, isEarly);
        for (const [at, { body }] of sent.entries()) {
          const former = plain[at]!.body;
          const [now, then] = [messagesOf({ body }), messagesOf({ body: former })];
          expect(now).toHaveLength(then.length);
          expect(now.every((one, place) => isSameButForCacheMarks(one, then[place]))).toBe(true);
          const more = marksOf(body).length - marksOf(former).length;
          expect([0, 1]).toContain(more);
          const other = now.filter(
            (one, place) => JSON.stringify(one) !== JSON.stringify(then[place]),
          );
          expect(other).toHaveLength(more);
          added += more;
        }
      }),
      { numRuns: runs(40, 2) },
    );
    // The gateway edits only when that pays, which random sessions rarely make happen.
    expect(added).toBeGreaterThan(sightings(open === throughGateway ? 0 : 5));
  });
});

function systemText(mark: object): object {
  return { type: 'text', text: 'Be careful.', cache_control: mark };
}

describe('withBreakpointBefore', () => {
  const user = (...content: object[]): object => ({ role: 'user', content });
  const model = (...content: object[]): object => ({ role: 'assistant', content });
  const text = (words: string): object => ({ type: 'text', text: words });
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 's' };
  const BEHIND = Array.from({ length: 20 }, () => [
    model(text('So.')),
    user(text('Go on.')),
  ]).flat();
  const END = user({ ...text('Now.'), cache_control: SHORT });
  const isMarked = (value: unknown): boolean => JSON.stringify(value).includes('cache_control');

  it.each<[string, readonly object[], object | undefined]>([
    ['a text', [ask('Go.')], user({ ...text('Go.'), cache_control: SHORT })],
    [
      'the block in front of reasoning',
      [ask('Go.'), model(text('Yes.'), thought)],
      model({ ...text('Yes.'), cache_control: SHORT }, thought),
    ],
    [
      'the message in front of reasoning',
      [ask('Go.'), model(thought)],
      user({ ...text('Go.'), cache_control: SHORT }),
    ],
    [
      'the text in front of an empty one',
      [user(text('Go.'), text(''), text(' '))],
      user({ ...text('Go.'), cache_control: SHORT }, text(''), text(' ')),
    ],
    [
      'the block in front of unknown ones',
      [user(text('Go.')), model({ type: 'compaction', content: 'So far.' }, { type: 'other' })],
      user({ ...text('Go.'), cache_control: SHORT }),
    ],
    [
      'nothing far in front',
      [ask('Go.'), ...Array.from({ length: 5 }, () => model(thought))],
      undefined,
    ],
    ['nothing that JSON changes', [user({ ...text('Go.'), toJSON: () => text('No.') })], undefined],
    ['no text of the system', [{ role: 'system', content: 'Be brief.' }], undefined],
    ['nothing, as there is nothing', [], undefined],
  ])('marks %s', (_, front, expected) => {
    const messages = [...front, ...BEHIND, END];
    const marked = withBreakpointBefore({}, messages, front.length);
    expect(marked.slice(0, -1).find(isMarked)).toEqual(expected);
    expect(marked === messages).toBe(expected === undefined);
  });

  it("uses the longest lifetime of the marks behind it, whatever the order of a block's fields", () => {
    const inner = [{ ...text('a'), cache_control: SHORT }];
    const result = { type: 'tool_result', tool_use_id: 't', content: inner, cache_control: LONG };
    const [first] = withBreakpointBefore({}, [ask('Go.'), ...BEHIND, user(result)], 1);
    expect(first).toEqual(user({ ...text('Go.'), cache_control: LONG }));
  });

  it('copies no argument of a call', () => {
    const call = { type: 'tool_use', id: 't', name: 'x', input: { cache_control: { type: 'x' } } };
    const messages = [ask('Go.'), ...BEHIND, model(call)];
    expect(withBreakpointBefore({}, messages, 1)).toBe(messages);
  });

  const REQUESTS = fc.record({
    messages: arbitraryMessages,
    places: fc.array(fc.nat(), { maxLength: 4 }),
    outer: fc.nat(2),
    isAutomatic: fc.boolean(),
    long: fc.nat(4),
    index: fc.nat(),
  });

  it('keeps every request valid, and adds or moves one mark, never the last', () => {
    let [added, moved] = [0, 0];
    fc.assert(
      fc.property(REQUESTS, ({ messages: given, places, outer, isAutomatic, long, index }) => {
        const messages = structuredClone(given.map((message) => withoutCacheMarks(message)));
        const holders = messages.flatMap(({ content }) =>
          typeof content === 'string' ? [] : content.flatMap(holdersIn),
        );
        for (const place of places) {
          const holder = holders[place % Math.max(1, holders.length)];
          if (holder !== undefined) holder['cache_control'] = { type: 'ephemeral' };
        }
        const fields = {
          system: SYSTEM.concat(SYSTEM)
            .slice(0, outer)
            .map((one) => ({ ...one, cache_control: { ...SHORT } })),
          ...(isAutomatic && { cache_control: { ...SHORT } }),
        };
        const body = { ...fields, messages };
        for (const { mark } of marksOf(body).slice(0, long)) Object.assign(mark, LONG);
        fc.pre(refusalOfMarks(body) === undefined);
        deepFreeze(body);
        const at = index % (messages.length + 1);
        const now = withBreakpointBefore(body, messages, at);
        const sent = { ...fields, messages: now };
        expect(refusalOfMarks(sent)).toBeUndefined();
        const changed = now.flatMap((message, place) => (message === messages[place] ? [] : place));
        const [own, marks] = [marksOf(body), marksOf(sent)];
        const more = marks.length - own.length;
        expect([0, 1]).toContain(more);
        const isMoved = more === 0 && changed.length > 0;
        expect(changed).toHaveLength(isMoved ? 2 : more);
        if (isMoved) expect(own).toHaveLength(4);
        expect(changed.filter((place) => place < at)).toHaveLength(changed.length && 1);
        expect(marks.at(-1)?.part).toBe(own.at(-1)?.part);
        for (const place of changed)
          expect(isSameButForCacheMarks(now[place], messages[place])).toBe(true);
        added += more;
        moved += Number(isMoved);
      }),
      { numRuns: runs(2_000) },
    );
    expect(added).toBeGreaterThan(0);
    expect(moved).toBeGreaterThan(sightings(10));
  });
});

type Holder = Record<string, unknown>;

/** The blocks on which the API accepts a mark. */
function holdersIn(part: object): Holder[] {
  const { type, content } = part as Holder;
  const inner = Array.isArray(content) ? (content as Holder[]) : [];
  if (type === 'tool_result') return [part as Holder, ...inner];
  return ['text', 'image', 'document', 'tool_use'].includes(type as string) ? [part as Holder] : [];
}
