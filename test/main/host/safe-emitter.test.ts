// Listeners that fail are reported and do not stop the others.

import { setImmediate as nextImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';

import type { Logger } from '../../../src/main/host/logger.js';
import { SafeEmitter } from '../../../src/main/host/safe-emitter.js';

interface Events {
  told: [what: string, times: number];
}

class Teller extends SafeEmitter<Events> {
  tell(what: string, times: number): void {
    this.notify('told', what, times);
  }
}

function openTeller(): { readonly teller: Teller; readonly error: ReturnType<typeof vi.fn> } {
  const error = vi.fn();
  const logger: Logger = { debug: vi.fn(), warn: vi.fn(), error };
  return { teller: new Teller(logger), error };
}

describe('SafeEmitter', () => {
  it('calls every listener with all details, in order', () => {
    const { teller } = openTeller();
    const calls: unknown[] = [];
    teller.on('told', (what, times) => calls.push(['first', what, times]));
    teller.on('told', (what, times) => calls.push(['second', what, times]));
    teller.tell('it', 2);
    expect(calls).toEqual([
      ['first', 'it', 2],
      ['second', 'it', 2],
    ]);
  });

  it('calls a listener that was added with once, once', () => {
    const { teller } = openTeller();
    const listener = vi.fn();
    teller.once('told', listener);
    teller.tell('it', 1);
    teller.tell('it', 2);
    expect(listener).toHaveBeenCalledExactlyOnceWith('it', 1);
  });

  it('goes on after a listener that throws, and reports what it threw', () => {
    const { teller, error } = openTeller();
    const thrown = new Error('listener');
    const after = vi.fn();
    teller.on('told', () => {
      throw thrown;
    });
    teller.on('told', after);
    teller.tell('it', 1);
    expect(after).toHaveBeenCalledOnce();
    expect(error).toHaveBeenCalledExactlyOnceWith("a listener of 'told' failed", { error: thrown });
  });

  it('reports a rejection of a listener', async () => {
    const { teller, error } = openTeller();
    const rejecting: () => unknown = () => Promise.reject(new Error('later'));
    teller.on('told', rejecting);
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
    teller.on('told', rejecting);
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
    teller.on('told', () => {
      teller.off('told', gone);
      teller.on('told', late);
    });
    teller.on('told', gone);
    teller.tell('it', 1);
    expect(late).not.toHaveBeenCalled();
    expect(gone).toHaveBeenCalledOnce();
  });
});
