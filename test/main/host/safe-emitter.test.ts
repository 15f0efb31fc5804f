// Listeners that fail are reported and do not stop the others.

import { once } from 'node:events';
import { setImmediate as nextImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';

import type { Logger } from '../../../src/main/host/logger.js';
import { SafeEmitter } from '../../../src/main/host/safe-emitter.js';

interface Events {
  happened: [what: string, times: number];
}

class Teller extends SafeEmitter<Events> {
  tell(what: string, times: number): void {
    this.notify('happened', what, times);
  }
}

function openTeller(): { readonly teller: Teller; readonly error: ReturnType<typeof vi.fn> } {
  const error = vi.fn();
  const logger: Logger = { debug: vi.fn(), warn: vi.fn(), error };
  return { teller: new Teller(logger, { happened: true }), error };
}

describe('SafeEmitter', () => {
  it('calls every listener with all details, in order', () => {
    const { teller } = openTeller();
    const calls: unknown[] = [];
    teller.on('happened', (what, times) => calls.push(['first', what, times]));
    teller.on('happened', (what, times) => calls.push(['second', what, times]));
    teller.tell('it', 2);
    expect(calls).toEqual([
      ['first', 'it', 2],
      ['second', 'it', 2],
    ]);
  });

  it('calls a listener that was added with once, once', () => {
    const { teller } = openTeller();
    const listener = vi.fn();
    teller.once('happened', listener);
    teller.tell('it', 1);
    teller.tell('it', 2);
    expect(listener).toHaveBeenCalledExactlyOnceWith('it', 1);
  });

  it('goes on after a listener that throws, and reports what it threw', () => {
    const { teller, error } = openTeller();
    const thrown = new Error('listener');
    const after = vi.fn();
    teller.on('happened', () => {
      throw thrown;
    });
    teller.on('happened', after);
    teller.tell('it', 1);
    expect(after).toHaveBeenCalledOnce();
    expect(error).toHaveBeenCalledExactlyOnceWith("a listener of 'happened' failed", {
      error: thrown,
    });
  });

  it('reports a rejection of a listener', async () => {
    const { teller, error } = openTeller();
    const rejecting: () => unknown = () => Promise.reject(new Error('later'));
    teller.on('happened', rejecting);
    teller.tell('it', 1);
    await nextImmediate();
    expect(error).toHaveBeenCalledOnce();
  });

  it('reports a rejection where Promise is replaced, as zone.js does', async () => {
    const { teller, error } = openTeller();
    // An async function returns a native promise, whatever the global is.
    const rejecting: () => unknown = async () => {
      await nextImmediate();
      throw new Error('later');
    };
    teller.on('happened', rejecting);
    vi.stubGlobal('Promise', class extends Promise<unknown> {});
    teller.tell('it', 1);
    vi.unstubAllGlobals();
    await nextImmediate();
    await nextImmediate();
    expect(error).toHaveBeenCalledOnce();
  });

  it('tolerates listeners that are added and removed meanwhile', () => {
    const { teller } = openTeller();
    const late = vi.fn();
    const gone = vi.fn();
    teller.on('happened', () => {
      teller.off('happened', gone);
      teller.on('happened', late);
    });
    teller.on('happened', gone);
    teller.tell('it', 1);
    expect(late).not.toHaveBeenCalled();
    expect(gone).toHaveBeenCalledOnce();
  });

  it('refuses a listener for an event that does not exist', async () => {
    const { teller } = openTeller();
    const on = (name: string): unknown => teller.on(name, vi.fn() as never);
    expect(() => on('hapened')).toThrow(
      new RangeError('There is no event "hapened". Did you mean \'happened\'? Known are happened.'),
    );
    for (const name of ['constructor', 'x'.repeat(100)]) expect(() => on(name)).toThrow(RangeError);
    expect(teller.listenerCount('hapened')).toBe(0);
    // Node's own, and what `events.once` listens for.
    for (const name of ['removeListener', 'error']) on(name);
    const told = once(teller, 'happened');
    teller.tell('it', 1);
    await expect(told).resolves.toEqual(['it', 1]);
  });
});
