import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { ownConversations } from '../../support/own-conversations.js';
import type { OwnConversations } from '../../support/own-conversations.js';
import { isSameValue } from '../../../src/adapters/format/same-value.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import type { StateDivergence } from '../../../src/main/state/resume.js';
import { ContextWindowExceededError } from '../../../src/shared/errors.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  system,
  user,
} from '../../support/plain-message-format.js';
import type { PlainMessage } from '../../support/plain-message-format.js';
import { compacted, start, use, write } from '../../support/plain-talk.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { runs } from '../../support/scale.js';

let compactor: Compactor;
let sessions: Session[];

beforeEach(() => {
  compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', workspaceRoot: '/w' });
  sessions = [];
});

afterEach(() => compactor.close());

function conversationsWith(options: AdapterOptions = {}): OwnConversations<PlainMessage> {
  return ownConversations(compactor, PLAIN_MESSAGE_FORMAT, {
    edits: 'every-turn',
    onSession: (session) => sessions.push(session),
    ...options,
  });
}

describe('Conversations', () => {
  it('returns the messages themselves in a new list while nothing is stale', async () => {
    const messages = Object.freeze([...start]);
    const result = await conversationsWith().compact(messages);
    expect(result).not.toBe(messages);
    expect(result).toHaveLength(4);
    result.forEach((message, at) => expect(message).toBe(messages[at]));
  });

  it('drops what is stale and keeps all other messages', async () => {
    const result = await conversationsWith().compact([...start, ...write]);
    expect(result).toEqual(compacted);
    expect(result[3]).toBe(write[1]);
  });

  it('reads each message once, however often the array is passed', async () => {
    const read = vi.fn(PLAIN_MESSAGE_FORMAT.createReader().read);
    const format = { ...PLAIN_MESSAGE_FORMAT, createReader: () => ({ read }) };
    const conversations = ownConversations(compactor, format);
    await conversations.compact(start);
    await conversations.compact([...start, write[0]!]);
    await conversations.compact([...start, ...write]);
    expect(read.mock.calls.map(([, index]) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('returns the same for the same messages, without another preflight', async () => {
    const conversations = conversationsWith();
    const messages = [...start, ...write];
    const first = await conversations.compact(messages);
    const window = vi.spyOn(sessions[0]!, 'ensureCompressionBeforeSend');
    expect(await conversations.compact(messages)).toEqual(first);
    expect(await conversations.compact(first)).toEqual(first);
    expect(window).not.toHaveBeenCalled();
    expect(sessions).toHaveLength(1);
  });

  it.each([
    ['the messages as they were given', (given: PlainMessage[]) => given],
    ['the messages that it returned', (_: PlainMessage[], returned: PlainMessage[]) => returned],
    ['copies of them', (given: PlainMessage[]) => structuredClone(given)],
    [
      'copies of what it returned',
      (_: PlainMessage[], returned: PlainMessage[]) => structuredClone(returned),
    ],
  ])('continues from %s', async (_, choose) => {
    const conversations = conversationsWith();
    const given = [...start, ...write];
    const returned = await conversations.compact(given);
    const more = [user('and now'), ...use('3', 'read_file', 'b.ts')];
    const result = await conversations.compact([...choose(given, returned), ...more]);
    expect(result).toEqual([...compacted, ...more]);
    expect(sessions).toHaveLength(1);
    // A second run of the same agent starts from the user's unedited copy.
    const last = assistant('done');
    expect(await conversations.compact([...given, ...more, last])).toEqual([
      ...compacted,
      ...more,
      last,
    ]);
    expect(sessions).toHaveLength(1);
  });

  it('returns the objects that were passed last, also around an edit', async () => {
    const conversations = conversationsWith();
    const pair = assistant(call('1', 'read_file', { file_path: 'a.ts' }), 'and', call('x', 'run'));
    const given = [
      user('go'),
      pair,
      answer('1', 'read_file', 'a'),
      answer('x', 'run', 'x'),
      ...write,
    ];
    await conversations.compact(given);
    const copy = structuredClone(given);
    const result = await conversations.compact(copy);
    expect(result.map((message) => copy.indexOf(message))).toEqual([0, -1, 3, 4, 5]);
    expect(result[1]?.parts[0]).toBe(copy[1]?.parts[1]);
    const carried = structuredClone(result);
    const more = user('on');
    expect(await conversations.compact([...carried, more])).toEqual([...carried, more]);
    (await conversations.compact([...carried, more])).forEach((message, at) =>
      expect(message).toBe([...carried, more][at]),
    );
    expect(sessions).toHaveLength(1);
  });

  it('applies no edit to a copy that differs in one character, wherever that is', async () => {
    const conversations = conversationsWith();
    const text = 'x'.repeat(4_000);
    const given = [user('go'), assistant(call('1', 'read_file', { file_path: 'a.ts' }), text)];
    const pruned = [...given, answer('1', 'read_file', 'a'), ...write];
    const compacted = await conversations.compact(pruned);
    expect(compacted).toHaveLength(pruned.length - 1);
    const copy = structuredClone(pruned);
    expect(await conversations.compact(copy)).toEqual(compacted);
    for (const at of [0, 1_999, 3_999]) {
      const changed = `${text.slice(0, at)}y${text.slice(at + 1)}`;
      const other = structuredClone(pruned);
      other[1] = assistant(call('1', 'read_file', { file_path: 'a.ts' }), changed);
      const [, said] = await conversations.compact(other);
      expect(said).toEqual(assistant(changed));
    }
    expect(await conversations.compact(structuredClone(pruned))).toEqual(compacted);
    expect(sessions).toHaveLength(4);
  });

  it('compares copies of known messages only once', async () => {
    const conversations = conversationsWith();
    let looks = 0;
    const counted = ({ role, parts }: PlainMessage): PlainMessage => {
      const get = () => ((looks += 1), role);
      return Object.defineProperty({ role, parts }, 'role', { get });
    };
    let given = [user('go'), ...start, ...write];
    await conversations.compact(structuredClone(given));
    for (let turn = 0; turn < 3; turn += 1) {
      const next = user(`and ${turn}`);
      looks = 0;
      await conversations.compact([...given.map(counted), next]);
      // And the last of them again, which may be a transient message.
      expect(looks).toBe(given.length + 1);
      given = [...given, next];
    }
    expect(conversations.report()).toHaveLength(1);
  });

  it('continues from copies of copies as from the messages themselves', async () => {
    const conversations = conversationsWith();
    let given = [user('go'), ...start, ...write];
    for (let turn = 0; turn < 6; turn += 1) {
      const result = await conversations.compact(given);
      const again = conversationsWith();
      expect(result).toEqual(await again.compact(structuredClone(given)));
      result.forEach((message) => {
        if (given.some((other) => isSameValue(other, message))) expect(given).toContain(message);
      });
      // The next call continues from copies or from the objects, in turn.
      given = turn % 2 === 0 ? structuredClone(given) : [...given];
      given.push(user(`and ${turn}`), ...use(`t${turn}`, 'read_file', 'a.ts'));
    }
    expect(conversations.report()).toHaveLength(1);
  });

  it('sends a moving mark at its present place', async () => {
    const format = {
      ...PLAIN_MESSAGE_FORMAT,
      isSame: (a: PlainMessage, b: PlainMessage) => isSameValue(unmarked(a), unmarked(b)),
    };
    const conversations = ownConversations(compactor, format, { edits: 'every-turn' });
    const marked = (message: PlainMessage): PlainMessage => ({
      ...message,
      parts: message.parts.map((part) => ('text' in part ? { ...part, mark: 'cached' } : part)),
    });
    const messages = [...start, ...write, user('one')];
    expect((await conversations.compact([...messages, marked(user('two'))])).at(-1)).toEqual(
      marked(user('two')),
    );
    const next = [...messages, user('two'), marked(user('three'))];
    const result = await conversations.compact(next);
    expect(result.slice(-3)).toEqual(next.slice(-3));
    expect(result).toHaveLength(next.length - 2);
    expect(conversations.report()).toHaveLength(1);
  });

  it('sends the marks of copies at their present places, and no former marks', async () => {
    const isSame = (a: PlainMessage, b: PlainMessage): boolean =>
      isSameValue(a, b, (key) => key === 'mark');
    const format = { ...PLAIN_MESSAGE_FORMAT, isSame };
    const conversations = ownConversations(compactor, format, { edits: 'every-turn' });
    const given = [...start, ...write, user('one')];
    await conversations.compact(given);
    for (const marked of [0, 2, 4, 5, -1, 1, 4]) {
      const copy = structuredClone(given).map((message, at) =>
        at === marked ? { ...message, mark: 'cached' } : message,
      );
      const left = copy.filter((_, at) => at !== 2 && at !== 3);
      expect(await conversations.compact(copy)).toEqual(left);
    }
    expect(conversations.report()).toHaveLength(1);
  });

  it('does not look into a message when its object is passed again', async () => {
    const conversations = conversationsWith();
    await conversations.compact(start);
    let looks = 0;
    const copies = start.map(({ role, parts }) => ({
      get role() {
        looks += 1;
        return role;
      },
      parts: structuredClone(parts),
    }));
    await conversations.compact(copies);
    await conversations.compact(copies);
    expect(looks).toBeGreaterThan(0);
    looks = 0;
    await conversations.compact([...copies, user('more')]);
    expect(looks).toBe(0);
    expect(sessions).toHaveLength(1);
  });

  it('starts another conversation when messages diverge, and keeps both', async () => {
    const conversations = conversationsWith();
    const one = [...start, user('one')];
    const other = [...start, user('other')];
    await conversations.compact(start);
    await conversations.compact(one);
    await conversations.compact(other);
    expect(sessions).toHaveLength(2);
    expect(await conversations.compact([...one, ...write])).toEqual([
      start[0],
      start[1],
      user('one'),
      ...write,
    ]);
    expect(await conversations.compact([...other, assistant('well')])).toHaveLength(6);
    expect(sessions).toHaveLength(2);
  });

  it('continues the conversation when the treatment of reasoning changes', async () => {
    const conversations = conversationsWith();
    await conversations.compact(start, { reasoning: 'keep' });
    await conversations.compact([...start, ...write], { reasoning: 'strip-after-first-edit' });
    expect(sessions).toHaveLength(1);
    // Models of other providers must not lose their reasoning.
    await conversations.compact([...start, ...write, user('more')], {});
    expect(sessions).toHaveLength(2);
  });

  it('starts another conversation for fewer messages than it knows', async () => {
    const conversations = conversationsWith();
    await conversations.compact([...start, ...write]);
    expect(await conversations.compact(start)).toEqual(start);
    expect(sessions).toHaveLength(2);
  });

  it('restarts a named conversation in its session when its messages were rewound', async () => {
    const conversations = conversationsWith();
    await conversations.compact([...start, ...write], { conversationId: 'x' });
    await conversations.compact([...start, ...write], { conversationId: 'y' });
    expect(await conversations.compact(start, { conversationId: 'x' })).toEqual(start);
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual(['x', 'y']);
    const result = await conversations.compact([...start, ...write], { conversationId: 'x' });
    expect(result).toEqual(compacted);
    expect(sessions).toHaveLength(2);
  });

  it('runs concurrent calls of one conversation in order', async () => {
    const conversations = conversationsWith();
    const all = [...start, ...write, user('on')];
    const results = await Promise.all(
      [4, 6, 7, 7].map((length) => conversations.compact(all.slice(0, length))),
    );
    expect(results).toEqual([start, compacted, [...compacted, all[6]], [...compacted, all[6]]]);
    expect(sessions).toHaveLength(1);
  });

  it('distinguishes concurrent conversations that begin with the same messages', async () => {
    const conversations = conversationsWith();
    const branches = ['a', 'b', 'c'].map((name) => [...start, user(name)]);
    const results = await Promise.all([
      conversations.compact(start),
      ...branches.map((messages) => conversations.compact(messages)),
    ]);
    expect(results).toEqual([start, ...branches]);
  });

  it('completes concurrent calls, in separate conversations unless their messages are equal', async () => {
    const branches = fc.array(fc.array(fc.constantFrom('a', 'b'), { maxLength: 3 }), {
      minLength: 2,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(branches, async (said) => {
        const conversations = conversationsWith();
        const all = said.map((texts) => [...start, ...texts.map((text) => user(text))]);
        for (const length of [4, 5, 6, 7]) {
          const calls = all.map((messages) => messages.slice(0, length));
          const results = await Promise.all(calls.map((call) => conversations.compact(call)));
          expect(results).toEqual(calls);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it('reads no message twice after a call was aborted at any moment', async () => {
    const all = [...start, ...write, user('on'), ...use('3', 'write_file', 'b.ts')];
    for (let ticks = 0; ticks < 40; ticks += 1) {
      const conversations = conversationsWith();
      await conversations.compact(start);
      const controller = new AbortController();
      const aborted = conversations.compact(all.slice(0, 6), { signal: controller.signal });
      const outcome = aborted.catch((error: unknown) => error);
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
      controller.abort(new Error('enough'));
      await outcome;
      expect(await conversations.compact(all)).toEqual([...compacted, ...all.slice(6)]);
    }
    expect(sessions).toHaveLength(40);
  });

  it('rejects with the reason of a signal that is already aborted, and reads nothing', async () => {
    const conversations = conversationsWith();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(conversations.compact(start, { signal })).rejects.toThrow('enough');
    expect(sessions).toHaveLength(0);
  });

  it('names an invalid message, and continues with a valid one afterwards', async () => {
    const conversations = conversationsWith();
    await conversations.compact(start);
    const wrong = { role: 'nobody', parts: [] } as unknown as PlainMessage;
    await expect(conversations.compact([...start, wrong])).rejects.toThrow(TypeError);
    expect(await conversations.compact([...start, ...write])).toEqual(compacted);
    await expect(conversations.compact('no' as unknown as PlainMessage[])).rejects.toThrow(
      'Expected an array of messages, got a string.',
    );
    expect(await conversations.compact([])).toEqual([]);
  });

  it('is unchanged after invalid messages, and continues in the same session', async () => {
    const conversations = conversationsWith();
    await conversations.compact(start);
    const refused: unknown[] = [
      [...start, null],
      // A call is read before the invalid message, and must not be remembered.
      [...start, assistant(call('2', 'write_file', 'a.ts')), { role: 'nobody', parts: [] }],
      // More than an entry of a history holds.
      [...start, user('x'.repeat(9_000_000))],
      [null],
    ];
    for (const messages of refused) {
      const compacting = conversations.compact(messages as PlainMessage[]);
      await expect(compacting).rejects.toThrow(TypeError);
    }
    expect(await conversations.compact([...start, ...write])).toEqual(compacted);
    expect(sessions).toHaveLength(1);
    expect(conversations.report()).toHaveLength(1);
  });

  it('keeps a named conversation when messages that would restart it are invalid', async () => {
    const conversations = conversationsWith();
    const named = { conversationId: 'a' };
    await conversations.compact(start, named);
    const clear = vi.spyOn(sessions[0]?.history ?? expect.fail('no session'), 'clear');
    const other = [user('another beginning'), null] as unknown as PlainMessage[];
    await expect(conversations.compact(other, named)).rejects.toThrow(TypeError);
    expect(clear).not.toHaveBeenCalled();
    expect(await conversations.compact([...start, ...write], named)).toEqual(compacted);
    expect(sessions).toHaveLength(1);
  });

  it('recovers when the session could not be created', async () => {
    const conversations = conversationsWith();
    const createSession = vi.spyOn(compactor, 'createSession');
    createSession.mockRejectedValueOnce(new Error('not now'));
    await expect(conversations.compact(start)).rejects.toThrow('not now');
    expect(await conversations.compact([...start, ...write])).toEqual(compacted);
  });

  it('closes the least recently used conversation', async () => {
    const conversations = conversationsWith({ maxConversations: 2 });
    await conversations.compact([user('a')]);
    await conversations.compact([user('b')]);
    await conversations.compact([user('a'), assistant('x')]);
    await conversations.compact([user('c')]);
    await expect.poll(() => compactor.stats().sessions).toBe(2);
    expect(conversations.report().map(({ givenMessages }) => givenMessages)).toEqual([2, 1]);
    await conversations.compact([user('a'), assistant('x'), user('y')]);
    expect(sessions).toHaveLength(3);
  });

  it('waits for the state of a conversation that is closing, if it continues that one', async () => {
    const conversations = conversationsWith({ maxConversations: 1 });
    await conversations.compact([user('a')]);
    const [first] = sessions;
    const close = first?.close.bind(first);
    let end = (): void => undefined;
    const mayEnd = new Promise<void>((resolve) => (end = resolve));
    const begunMeanwhile = new Promise<number>((resolve) => {
      vi.spyOn(first as Session, 'close').mockImplementation(async () => {
        await mayEnd;
        await close?.();
        resolve(sessions.length);
      });
    });
    await conversations.compact([user('b')]);
    const continued = conversations.compact([user('a'), assistant('x'), user('y')]);
    await conversations.compact([user('c')]);
    end();
    expect(await begunMeanwhile).toBe(3);
    await continued;
    expect(sessions).toHaveLength(4);
  });

  it('throws when messages cannot be made to fit, and continues once they are changed', async () => {
    await compactor.close();
    compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', contextLimit: 2_000 });
    const conversations = conversationsWith({ onError: 'throw' });
    const huge = [user('x'.repeat(40_000))];
    await expect(conversations.compact(huge)).rejects.toThrow(ContextWindowExceededError);
    await expect(conversations.compact(huge)).rejects.toThrow(ContextWindowExceededError);
    expect(await conversations.compact([user('short')])).toEqual([user('short')]);
  });

  it('replaces messages by a summary, and recognizes it afterwards', async () => {
    await compactor.close();
    const summarizer = scriptedSummarizer(snapshot('It was long.'));
    compactor = createCompactor({
      offload: 'inline',
      tokenizer: 'estimate',
      contextLimit: 4_000,
      summarizer,
      settings: { 'compression.strategy': 'one-shot', 'compression.ahead': 1 },
    });
    const conversations = conversationsWith();
    const talk = Array.from({ length: 20 }, (_, at) =>
      at % 2 === 0 ? user(`${at} ${'x'.repeat(800)}`) : assistant(`${at} ${'y'.repeat(800)}`),
    );
    const messages = [system('be brief'), ...talk];
    const result = await conversations.compact(messages);
    expect(result.length).toBeLessThan(messages.length);
    expect(result[0]).toBe(messages[0]);
    expect(JSON.stringify(result)).toContain('It was long');
    expect(result.at(-1)).toBe(messages.at(-1));
    const next = user('next');
    expect(await conversations.compact([...messages, next])).toEqual([...result, next]);
    expect(await conversations.compact([...result, next])).toEqual([...result, next]);
    expect(sessions).toHaveLength(1);
  });

  it('names each invalid option', () => {
    expect(() => conversationsWith({ maxConversations: 0 })).toThrow(RangeError);
    expect(() => conversationsWith({ onSession: 'x' as never })).toThrow('onSession');
  });

  it('loses, repeats and reorders nothing, whichever array the next call continues from', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            tool: fc.constantFrom('read_file' as const, 'write_file' as const),
            path: fc.constantFrom('a.ts', 'b.ts', 'c.ts'),
            from: fc.constantFrom('given', 'returned', 'copy'),
            says: fc.boolean(),
          }),
          { minLength: 1, maxLength: 12 },
        ),
        fc.constantFrom('every-turn' as const, 'batched' as const, 'at-birth' as const),
        async (steps, edits) => {
          const conversations = conversationsWith({ edits, minReclaimTokens: 30 });
          const before = sessions.length;
          let given: PlainMessage[] = [user('go')];
          let returned = await conversations.compact(given);
          const all: PlainMessage[] = [...given];
          for (const [at, { tool, path, from, says }] of steps.entries()) {
            const more = [...use(String(at), tool, path), ...(says ? [user(`on ${at}`)] : [])];
            all.push(...more);
            const base =
              from === 'returned' ? returned : from === 'copy' ? structuredClone(given) : given;
            given = [...base, ...more];
            returned = await conversations.compact(given);
            expect(idsOf(returned, 'call')).toEqual(idsOf(returned, 'answers'));
            expect(isSubsequence(returned, all)).toBe(true);
            expect(
              isSubsequence(
                all.filter(({ role }) => role === 'user'),
                returned,
              ),
            ).toBe(true);
            expect(returned.at(-1)).toEqual(all.at(-1));
          }
          expect(sessions).toHaveLength(before + 1);
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

function idsOf(messages: readonly PlainMessage[], kind: 'call' | 'answers'): readonly string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (kind in part ? [String(Reflect.get(part, kind))] : [])),
  );
}

/** Whether `some` is a subsequence of `all`. */
function isSubsequence(some: readonly PlainMessage[], all: readonly PlainMessage[]): boolean {
  const texts = all.map((message) => JSON.stringify(message));
  let from = 0;
  return some.every((message) => {
    const at = texts.indexOf(JSON.stringify(message), from);
    from = at + 1;
    return at !== -1;
  });
}

function unmarked({ role, parts }: PlainMessage): PlainMessage {
  return {
    role,
    parts: parts.map((part) => ({ ...part, mark: undefined })) as PlainMessage['parts'],
  };
}

describe('a host that edits what was sent', () => {
  const diverged: StateDivergence[] = [];
  const named = (options: AdapterOptions = {}): OwnConversations<PlainMessage> =>
    conversationsWith({
      ...options,
      onSession: (session) => {
        sessions.push(session);
        session.on('stateDiverged', (event) => diverged.push(event));
      },
    });
  const rest = [assistant('so'), user('then'), ...use('3', 'read_file', 'b.ts')];
  const talk = [...start, ...write, ...rest];

  beforeEach(() => void diverged.splice(0));

  it.each([
    ['another message', talk.with(7, user('something else')), 7],
    ['two in another order', talk.with(6, talk[7]!).with(7, talk[6]!), 6],
  ])(
    'gets the event stateDiverged for %s, with its place, and keeps the edits in front of it',
    async (_, edited, at) => {
      const conversations = named();
      await conversations.compact(talk, { conversationId: 'x' });
      const sent = await conversations.compact(edited, { conversationId: 'x' });
      // The read that an edit removed does not come back, and nothing changes in front of the place.
      expect(sent).toEqual([...compacted, ...edited.slice(6)]);
      expect(sessions).toHaveLength(1);
      // A system message is no entry.
      expect(diverged).toEqual([expect.objectContaining({ reason: 'edited', entry: at - 1 })]);
      expect(sessions[0]!.costs().requests).toBe(2);
    },
  );

  it('gets no event when the messages continue', async () => {
    const conversations = named();
    await conversations.compact(talk, { conversationId: 'x' });
    await conversations.compact([...talk, user('more')], { conversationId: 'x' });
    expect(diverged).toEqual([]);
  });
});
