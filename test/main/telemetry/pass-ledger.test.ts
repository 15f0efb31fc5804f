import { describe, expect, it } from 'vitest';

import type { PassMessage } from '../../../src/main/telemetry/channels.js';
import { PassLedger } from '../../../src/main/telemetry/pass-ledger.js';

function pass(message: Partial<PassMessage> = {}): PassMessage {
  return {
    sessionId: 's',
    task: 'optimize',
    ranOn: 'resident',
    entries: 3,
    queueMs: 1,
    runMs: 2,
    transferMs: 3,
    mainThreadMs: 0.5,
    bytesSent: 100,
    ...message,
  };
}

describe('PassLedger', () => {
  it('sums the passes of a step, and returns them once', () => {
    const ledger = new PassLedger();
    ledger.add(pass());
    ledger.add(pass({ runMs: 4, mainThreadMs: 0.25 }));
    expect(ledger.take('s', 'pruned')).toEqual({ workerRunMs: 6, mainThreadMs: 0.75 });
    expect(ledger.take('s', 'pruned')).toBeUndefined();
  });

  it('keeps steps and sessions apart', () => {
    const ledger = new PassLedger();
    ledger.add(pass({ task: 'compress', runMs: 7 }));
    ledger.add(pass({ sessionId: 'other', runMs: 9 }));
    expect(ledger.take('s', 'pruned')).toBeUndefined();
    expect(ledger.take('s', 'compressed')?.workerRunMs).toBe(7);
    expect(ledger.take('other', 'pruned')?.workerRunMs).toBe(9);
  });

  it('counts inline work as time of the calling thread alone', () => {
    const ledger = new PassLedger();
    ledger.add(pass({ ranOn: 'inline', mainThreadMs: 2 }));
    expect(ledger.take('s', 'pruned')).toEqual({ workerRunMs: 0, mainThreadMs: 2 });
  });

  it.each(['count', 'open'] as const)('books a pass of task %s to no step', (task) => {
    const ledger = new PassLedger();
    ledger.add(pass({ task }));
    for (const step of ['pruned', 'compressed', 'fitted'] as const) {
      expect(ledger.take('s', step)).toBeUndefined();
    }
  });

  it('forgets a session whose window has closed', () => {
    const ledger = new PassLedger();
    ledger.add(pass());
    ledger.close('s');
    expect(ledger.take('s', 'pruned')).toBeUndefined();
  });

  it('forgets the oldest of more than a thousand sessions', () => {
    const ledger = new PassLedger();
    for (let at = 0; at <= 1_000; at += 1) ledger.add(pass({ sessionId: `s${at}` }));
    expect(ledger.take('s0', 'pruned')).toBeUndefined();
    expect(ledger.take('s1', 'pruned')).toBeDefined();
    expect(ledger.take('s1000', 'pruned')).toBeDefined();
  });
});
