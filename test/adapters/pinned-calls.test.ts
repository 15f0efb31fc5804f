// Which messages are sent unchanged because of the calls in them.

import { describe, expect, it } from 'vitest';

import { callsWithComputer, PinnedCalls } from '../../src/adapters/pinned-calls.js';
import type { CallsInMessage } from '../../src/adapters/pinned-calls.js';

const message = (fields: Partial<CallsInMessage>): CallsInMessage => {
  return { calls: [], serverCalls: [], answered: [], isBound: false, ...fields };
};

describe('PinnedCalls', () => {
  it("pins a call of the provider's tool whose result is not in its message, and what answers it", () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ serverCalls: ['a'], answered: ['a'] }))).toBe(false);
    expect(pinned.pins(message({ serverCalls: ['b'], calls: ['c'] }))).toBe(true);
    expect(pinned.pins(message({ answered: ['a'] }))).toBe(false);
    expect(pinned.pins(message({ answered: ['c'] }))).toBe(true);
    expect(pinned.pins(message({ answered: ['x'], related: ['x', 'b'] }))).toBe(true);
  });

  it('goes by the newest call of an id', () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ calls: ['a'], isBound: true }))).toBe(true);
    expect(pinned.pins(message({ calls: ['a'], answered: ['a'] }))).toBe(false);
    expect(pinned.pins(message({ answered: ['a'] }))).toBe(false);
  });

  it('takes parts that belong to no call for none of a call without an id', () => {
    const pinned = new PinnedCalls();
    expect(pinned.pins(message({ serverCalls: [undefined] }))).toBe(true);
    expect(pinned.pins(message({ related: [undefined] }))).toBe(false);
  });
});

describe('callsWithComputer', () => {
  it.each([
    [message({ calls: ['a', 'b'], usesComputer: true }), ['a', 'b']],
    [message({ calls: ['a'] }), undefined],
    [message({ usesComputer: true }), undefined],
    [message({ calls: ['a'], usesComputer: true, isBound: true }), undefined],
    [message({ calls: ['a'], usesComputer: true, serverCalls: ['b'] }), undefined],
  ])('finds the calls of %j', (given, calls) => {
    expect(callsWithComputer(given)).toEqual(calls);
  });
});
