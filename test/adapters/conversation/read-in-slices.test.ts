// Long lists of messages are read in slices, with turns of the event loop in between, and give the same result as read at once.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MODEL_MESSAGE_FORMAT } from '../../../src/adapters/ai-sdk/sdk-message-format.js';
import { MESSAGE_PARAM_FORMAT } from '../../../src/adapters/anthropic/message-param-format.js';
import { contentFormat } from '../../../src/adapters/google/content-format.js';
import { baseMessageFormat } from '../../../src/adapters/langchain/base-message-format.js';
import type { MessageFormat } from '../../../src/adapters/format/message-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import { agentItemFormat } from '../../../src/adapters/openai/agent-item-format.js';
import { chatMessageFormat } from '../../../src/adapters/openai/chat-message-format.js';
import { responseItemFormat } from '../../../src/adapters/openai/response-item-format.js';
import { storedMessageFormat } from '../../../src/adapters/opencode/stored-message-format.js';
import { PER_SLICE } from '../../../src/adapters/format/placed.js';
import { readInSlices } from '../../../src/adapters/conversation/read-in-slices.js';
import type { IContent } from '../../../src/shared/content.js';
import { runSlices } from '../../../src/shared/slices.js';
import { inTurns } from '../../../src/main/waiting/event-loop-turn.js';
import { ADAPTER_SAMPLES } from '../../attacks/adapter-samples.js';
import { staleRead } from '../opencode/opencode-messages.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user,
} from '../../support/plain-message-format.js';
import type { PlainMessage } from '../../support/plain-message-format.js';
import { runs } from '../../support/scale.js';
import { readAll, readInto } from '../../support/read-all.js';

const FORMATS = new Map([
  ['ai-sdk', MODEL_MESSAGE_FORMAT],
  ['anthropic', MESSAGE_PARAM_FORMAT],
  ['openai chat', chatMessageFormat],
  ['langchain', baseMessageFormat],
  ['google', contentFormat],
  ['openai responses', responseItemFormat],
  ['openai agents', agentItemFormat],
  ['opencode', storedMessageFormat],
] as unknown as [string, MessageFormat<object>][]);

function longTalk(name: string): object[] {
  if (name === 'opencode') return Array.from({ length: 100 }, staleRead).flat();
  const { talk, more, made } = ADAPTER_SAMPLES.find((sample) => sample.name === name)!;
  const make = (message: unknown): object => (made?.(message) ?? message) as object;
  return Array.from({ length: 60 }, () => [...(talk() as object[]), ...more().map(make)]).flat();
}

/** Number of turns of the event loop during `work`. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const turn = (): void => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isDone = true;
  return turns;
}

/** The list, and a function that returns how many elements were read since it was last called. */
function watched(list: readonly object[]): [readonly object[], () => number] {
  let seen = new Set<PropertyKey>();
  const get = (target: object, key: PropertyKey): unknown => {
    if (typeof key === 'string' && /^\d/.test(key)) seen.add(key);
    return Reflect.get(target, key) as unknown;
  };
  const seenSince = (): number => {
    const { size } = seen;
    seen = new Set();
    return size;
  };
  return [new Proxy<readonly object[]>(list, { get }), seenSince];
}

/** The same without the numbers that repeated ids of calls get. */
function withGivenIds(reading: object): unknown {
  return JSON.parse(JSON.stringify(reading).replaceAll(/(?<=[^"])#\d+"/g, '"'));
}

describe('readInSlices', () => {
  it.each([...FORMATS.keys()])('reads a long list of %s like a read at once', (name) => {
    const format = FORMATS.get(name)!;
    const messages = longTalk(name);
    const whole = readAll(format.createReader(), messages, 3);
    const read = runSlices(readInSlices(format.createReader(), messages, 3));
    expect(withGivenIds(read)).toEqual(withGivenIds(whole));
  });

  it.each([...FORMATS.keys()])('reads few messages of %s per slice', (name) => {
    const messages = longTalk(name);
    const [list, seenSince] = watched(messages);
    const reading = readInSlices(FORMATS.get(name)!.createReader(), list, 0);
    const seen: number[] = [];
    for (let isMore = true; isMore;) {
      isMore = reading.next().done !== true;
      seen.push(seenSince());
    }
    expect(Math.max(...seen)).toBeLessThanOrEqual(2 * PER_SLICE);
    expect(seen.reduce((sum, count) => sum + count)).toBe(messages.length);
  });

  const words = (n: number): object => ({ type: 'message', role: 'assistant', content: `${n}` });
  it.each([
    ['openai responses', { role: 'user', content: 'on' }, words, { type: 'reasoning', id: 'r' }],
    [
      'google',
      { role: 'user', parts: [{ text: 'on' }] },
      (at: number) => ({ role: 'model', parts: [{ functionCall: { name: `f${at}` } }] }),
      { role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature: 's' }] },
    ],
  ])(
    'keeps messages that belong together in one slice in %s, however many they are',
    (name, user, made, first) => {
      fc.assert(
        fc.property(fc.array(fc.nat(3 * PER_SLICE), { minLength: 1, maxLength: 4 }), (lengths) => {
          const messages = lengths.flatMap((length) => [
            ...[user, first],
            ...Array.from({ length }, (_, at) => made(at)),
          ]);
          const format = FORMATS.get(name)!;
          const whole = readAll(format.createReader(), messages, 0);
          const read = runSlices(readInSlices(format.createReader(), messages, 0));
          expect(read).toEqual(whole);
        }),
        { numRuns: runs(200) },
      );
    },
  );

  it('refuses a value that no history can hold, wherever it is, without having read anything', () => {
    const view = new MessageView(PLAIN_MESSAGE_FORMAT);
    const many = Array.from({ length: 200 }, (_, at) => user(`message ${at}`));
    const tooLong = assistant(call('a', 'look', 'x'.repeat(9_000_000)));
    expect(() => runSlices(view.readInSlices([...many, tooLong, user('more')]))).toThrow(
      /message 200 to fit/,
    );
    expect(view.given).toEqual([]);
  });
});

describe('MessageView', () => {
  it('makes ids unique that calls of several answers share, also after messages that it has refused', () => {
    const view = new MessageView(PLAIN_MESSAGE_FORMAT);
    const turn = (...ids: readonly string[]): PlainMessage[] => [
      assistant({ unknown: 'approval', of: ids[0]! }, ...ids.map((id) => call(id, 'look'))),
      ...ids.map((id) => answer(id, 'look', 'found')),
    ];
    const idsIn = (messages: readonly PlainMessage[]): readonly unknown[] =>
      readInto(view, messages).flatMap(({ blocks }) =>
        blocks.map((block) => ('callId' in block ? block.callId : 'id' in block ? block.id : '')),
      );
    const refused = [...turn('0'), null] as never;
    expect(idsIn(turn('0', '1'))).toEqual(['0', '0', '1', '0', '1']);
    expect(() => runSlices(view.readInSlices(refused))).toThrow(TypeError);
    expect(idsIn(turn('0'))).toEqual(['0#2', '0#2', '0#2']);
    expect(idsIn(turn('1#2', '1'))).toEqual(['1#2', '1#2', '1#3', '1#2', '1#3']);
    expect(idsIn([...turn('1', '1'), answer('1', 'look', 'more'), ...turn('0#2')])).toEqual([
      ...Array<string>(6).fill('1#4'),
      ...Array<string>(3).fill('0#2#2'),
    ]);
  });

  it('remembers the calls before messages that it has refused, and none in these', () => {
    const view = new MessageView<object>(chatMessageFormat);
    const calling = (id: string): object => {
      const tool_calls = [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }];
      return { role: 'assistant', tool_calls };
    };
    readInto(view, [calling('a')] as never);
    expect(() => runSlices(view.readInSlices([calling('b'), null] as never))).toThrow(/message 2/);
    const answers = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' }));
    const names = readInto(view, answers as never).flatMap(({ blocks }) =>
      blocks.map((block) => block.type === 'tool_response' && block.toolName),
    );
    expect(names).toEqual(['look']);
  });

  const talk = Array.from({ length: 3_000 }, (_, at) => [
    assistant(call(`c${at}`, 'look', { at })),
    answer(`c${at}`, 'look', `found ${at}`),
  ]).flat();

  it('reads a long list, and follows edits all over it, with turns of the event loop in between', async () => {
    const view = new MessageView(PLAIN_MESSAGE_FORMAT);
    const atOnce = new MessageView(PLAIN_MESSAGE_FORMAT);
    const entries = readInto(atOnce, talk);
    let taken: readonly IContent[] = [];
    const readTurns = await turnsDuring(async () => {
      const reading = await inTurns(view.readInSlices(talk));
      taken = reading.entries;
      await inTurns(reading.commitInSlices());
    });
    expect(taken).toEqual(entries);
    const editedOf = (history: readonly IContent[]): IContent[] =>
      history.map((entry) => {
        const [block] = entry.blocks;
        if (block?.type !== 'tool_response') return entry;
        return { ...entry, blocks: [{ ...block, result: 'gone' }] };
      });
    const followTurns = await turnsDuring(() => inTurns(view.followInSlices(editedOf(taken))));
    runSlices(atOnce.followInSlices(editedOf(entries)));
    expect(view.current).toEqual(atOnce.current);
    expect(view.current[1]).toEqual(answer('c0', 'look', 'gone'));
    expect(view.current.at(-1)).toEqual(answer('c2999', 'look', 'gone'));
    expect(Math.min(readTurns, followTurns)).toBeGreaterThan(1);
  });
});
