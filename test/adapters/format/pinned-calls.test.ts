// Messages that are sent unchanged because of the calls in them.

import { describe, expect, it } from 'vitest';

import type { Origin, PlacedBlock, Reading } from '../../../src/adapters/format/message-format.js';
import { PinnedCalls, WholeExchanges } from '../../../src/adapters/format/pinned-calls.js';
import type { CallsInMessage, WholeMessage } from '../../../src/adapters/format/pinned-calls.js';

const message = (fields: Partial<CallsInMessage>): CallsInMessage => {
  return { calls: [], serverCalls: [], answered: [], staysPinned: false, ...fields };
};

describe('PinnedCalls', () => {
  it("pins a call of a provider's tool whose result is in another message, and that result", () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ serverCalls: ['a'], answered: ['a'] }))).toBe(false);
    expect(pinned.pins(message({ serverCalls: ['b'], calls: ['c'] }))).toBe(true);
    expect(pinned.pins(message({ answered: ['a'] }))).toBe(false);
    expect(pinned.pins(message({ answered: ['c'] }))).toBe(true);
    expect(pinned.pins(message({ answered: ['x'], related: ['x', 'b'] }))).toBe(true);
  });

  it('knows a message that goes on where the last one was paused, and pins nothing of its calls', () => {
    const resumed = (...before: readonly Partial<CallsInMessage>[]): PinnedCalls => {
      const pinned = new PinnedCalls();
      for (const each of before) pinned.pins(message(each));
      return pinned;
    };
    const next = message({ answered: ['a'], calls: ['b'] });
    const paused = resumed({ serverCalls: ['a'] });
    expect(paused.resumes(next)).toBe(true);
    expect(paused.pins(message({ answered: ['b'] }))).toBe(false);
    const twice = { serverCalls: ['a'], answered: ['x'] };
    expect(resumed({ serverCalls: ['x'] }, twice).resumes(next)).toBe(true);
    expect(resumed().resumes(next)).toBe(false);
    expect(resumed({ serverCalls: ['a'] }, {}).resumes(next)).toBe(false);
    expect(resumed({ serverCalls: ['a'], calls: ['c'] }).resumes(next)).toBe(false);
    expect(resumed({ serverCalls: ['a'], staysPinned: true }).resumes(next)).toBe(false);
    expect(resumed({ serverCalls: ['a', 'c'] }).resumes(next)).toBe(false);
    for (const other of [
      { answered: [] },
      { answered: ['a', 'x'] },
      { answered: ['a'], serverCalls: ['c'] },
      { answered: ['a'], calls: ['b'], programs: ['a'] },
      { answered: ['a'], staysPinned: true },
    ])
      expect(resumed({ serverCalls: ['a'] }).resumes(message(other))).toBe(false);
  });

  it('pins a call of an unknown program', () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ calls: ['a'], programs: [undefined] }))).toBe(true);
    expect(pinned.pins(message({ calls: ['b'] }))).toBe(false);
  });

  it('uses the newest call of an id', () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ calls: ['a'], staysPinned: true }))).toBe(true);
    expect(pinned.pins(message({ calls: ['a'], answered: ['a'] }))).toBe(false);
    expect(pinned.pins(message({ answered: ['a'] }))).toBe(false);
  });

  it('does not attribute parts without a call id to a call without an id', () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ serverCalls: [undefined] }))).toBe(true);
    expect(pinned.pins(message({ related: [undefined] }))).toBe(false);
  });
});

describe('WholeExchanges', () => {
  const block = (origin: Origin, type: 'opaque' | 'thinking' = 'opaque'): PlacedBlock =>
    type === 'opaque' ? { type, kind: 'x', tokens: 10, origin } : { type, thought: 'Hm.', origin };
  const whole = (
    at: number,
    fields: Partial<CallsInMessage>,
    more: Partial<WholeMessage> = {},
  ): WholeMessage => ({ ...message(fields), blocks: [block([at, 0])], ...more });
  const PROGRAM = [
    whole(0, { serverCalls: ['p'], calls: ['a'], programs: ['p'] }),
    whole(1, { answered: ['a'] }),
    whole(2, { calls: ['b'], programs: ['p'] }),
    whole(3, { answered: ['b'] }),
    whole(4, { answered: ['p'], calls: ['c'] }),
    whole(5, { answered: ['c'] }, { userBlocks: [block([5, 1])] }),
  ];
  const read = (...readings: (readonly WholeMessage[])[]): Reading[] => {
    const exchanges = new WholeExchanges();
    return readings.map((messages) => {
      const reading: Reading = { entries: [], pinnedTokens: 0 };
      for (const each of messages) exchanges.take(each, reading);
      exchanges.end(reading);
      return reading;
    });
  };
  const originsIn = (readings: readonly Reading[]): readonly string[] =>
    readings.flatMap(({ entries }) =>
      entries.map(({ speaker, blocks }) =>
        [speaker, ...blocks.map(({ origin }) => origin.join('.'))].join(' '),
      ),
    );
  const pinnedIn = (readings: readonly Reading[]): number =>
    readings.reduce((sum, { pinnedTokens }) => sum + pinnedTokens, 0);

  it('makes one entry of an exchange once it is complete, however the reads are split', () => {
    const expected = ['ai 0.0 1.0 2.0 3.0 4.0 5.0', 'human 5.1'];
    for (let cut = 0; cut <= PROGRAM.length; cut += 1) {
      const readings = read(PROGRAM.slice(0, cut), PROGRAM.slice(cut));
      expect(originsIn(readings)).toEqual(expected);
      expect(pinnedIn(readings)).toBe(0);
      const isWithin = cut > 0 && cut < PROGRAM.length;
      expect(readings.map(({ openFrom }) => openFrom)).toEqual([
        isWithin ? 0 : undefined,
        undefined,
      ]);
      expect(readings[0]?.pinnedTokens).toBe(isWithin ? cut * PINNED : 0);
    }
  });

  const PINNED = pinnedIn(read([whole(0, { staysPinned: true })]));

  it.each<[string, readonly WholeMessage[]]>([
    ['that is incomplete', PROGRAM.slice(0, 3)],
    ['of a program in no message', PROGRAM.slice(2)],
    ['with bound parts', PROGRAM.map((each) => ({ ...each, staysPinned: each === PROGRAM[4] }))],
    [
      'in which the user speaks',
      [
        PROGRAM[0] as WholeMessage,
        whole(1, { answered: ['a'] }, { userBlocks: [block([1, 1])] }),
        whole(2, { answered: ['p'] }),
      ],
    ],
    ['without calls', [0, 1, 2].map((at) => whole(at, {}))],
  ])('leaves an exchange %s pinned', (_, messages) => {
    const readings = read(messages);
    expect(pinnedIn(readings)).toBeGreaterThan(2 * PINNED);
    expect(originsIn(readings)).toEqual([]);
  });

  it('leaves an exchange pinned when another one begins before its end', () => {
    const other = [whole(1, { serverCalls: ['q'] }), whole(2, { answered: ['q'] })];
    const [reading] = read([whole(0, { serverCalls: ['p'] }), ...other]);
    expect(reading).toMatchObject({ pinnedTokens: PINNED, openFrom: undefined });
    expect(originsIn([reading as Reading])).toEqual(['ai 1.0 2.0']);
  });

  it('leaves an exchange pinned when a message comes that is not', () => {
    const exchanges = new WholeExchanges();
    const reading: Reading = { entries: [], pinnedTokens: 0 };
    exchanges.take(whole(0, { serverCalls: ['p'] }), reading);
    exchanges.pass([{ speaker: 'human', blocks: [block([1, 0])] }], reading);
    exchanges.take(whole(2, { answered: ['p'] }), reading);
    exchanges.end(reading);
    expect(originsIn([reading])).toEqual(['human 1.0']);
    expect(reading).toMatchObject({ pinnedTokens: 2 * PINNED, openFrom: undefined });
  });

  it('separates the reasoning of a pinned message, except for items of OpenAI', () => {
    const sealed = { ...block([0, 2], 'thinking'), signature: 'rs_1' };
    const blocks = [block([0, 0], 'thinking'), block([0, 1]), sealed];
    const [reading] = read([whole(0, { serverCalls: ['p'] }, { blocks })]);
    expect(reading?.entries).toEqual([
      { speaker: 'ai', blocks: [{ ...blocks[0], isOfPinned: true }] },
    ]);
    expect(
      originsIn(
        read([whole(0, { serverCalls: ['p'] }, { blocks }), whole(1, { answered: ['p'] })]),
      ),
    ).toEqual(['ai 0.0', 'ai 0.1 0.2 1.0']);
  });
});
