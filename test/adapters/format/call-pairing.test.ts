import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CallPairing } from '../../../src/adapters/format/call-pairing.js';
import type { ToolUseName } from '../../../src/adapters/format/call-pairing.js';
import { runs } from '../../support/scale.js';

/** The use of a tool, with few ids and names so that they repeat. */
const USE: fc.Arbitrary<ToolUseName> = fc.record(
  { id: fc.constantFrom('a', 'b', 'c'), name: fc.constantFrom('run', 'read') },
  { requiredKeys: [] },
);
const EVENT = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('call' as const), use: USE }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      use: USE,
      isComplete: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('step' as const) }) },
);

/** The naive implementation: searches all open calls for each response. */
class NaivePairing {
  #open: (ToolUseName & { readonly blockId: string; readonly step: number })[] = [];
  #step = 0;

  beginStep(): void {
    this.#step += 1;
  }

  call(use: ToolUseName, blockId: string): void {
    this.#open.push({ ...use, blockId, step: this.#step });
  }

  answer({ id, name }: ToolUseName, isComplete: boolean): string | undefined {
    const open = [
      ...this.#open.filter(({ step }) => step === this.#step),
      ...this.#open.filter(({ step }) => step < this.#step),
    ];
    const unnamed = open.filter((call) => id === undefined || call.id === undefined);
    const found =
      (id === undefined ? undefined : open.find((call) => call.id === id)) ??
      unnamed.find((call) => name === undefined || call.name === name);
    if (isComplete) this.#open = this.#open.filter((call) => call !== found);
    return found?.blockId;
  }
}

describe('CallPairing', () => {
  it('pairs by id where there is one', () => {
    const pairing = new CallPairing();
    expect(pairing.call({ id: 'a', name: 'read' }, [0, 0])).toBe('a');
    expect(pairing.call({ id: 'b', name: 'read' }, [0, 1])).toBe('b');
    expect(pairing.answer({ id: 'b', name: 'read' }, [1, 0], true)).toEqual({
      callId: 'b',
      toolName: 'read',
    });
    expect(pairing.answer({ id: 'a' }, [1, 1], true)).toEqual({ callId: 'a', toolName: 'read' });
  });

  it('pairs by name in the order of the calls where there is none', () => {
    const pairing = new CallPairing();
    const calls = ['read', 'write', 'read'].map((name, part) => pairing.call({ name }, [0, part]));
    expect(calls).toEqual(['#0.0', '#0.1', '#0.2']);
    const answers = ['write', 'read', 'read'].map(
      (name, part) => pairing.answer({ name }, [1, part], true).callId,
    );
    expect(answers).toEqual(['#0.1', '#0.0', '#0.2']);
  });

  it('gives a new id to a response without a call', () => {
    const pairing = new CallPairing();
    pairing.call({ id: 'a', name: 'read' }, [0, 0]);
    expect(pairing.answer({ id: 'x', name: 'read' }, [1, 0], true).callId).toBe('#1.0');
    expect(pairing.answer({ name: 'write' }, [1, 1], true).callId).toBe('#1.1');
    expect(pairing.answer({ name: 'read' }, [1, 2], true).callId).toBe('a');
  });

  it('keeps a call open while its response is incomplete', () => {
    const pairing = new CallPairing();
    pairing.call({ name: 'run' }, [0, 0]);
    expect(pairing.answer({ name: 'run' }, [1, 0], false).callId).toBe('#0.0');
    expect(pairing.answer({ name: 'run' }, [2, 0], true).callId).toBe('#0.0');
    expect(pairing.answer({ name: 'run' }, [3, 0], true).callId).toBe('#3.0');
  });

  it('prefers a call of the present step to an unanswered earlier call', () => {
    const pairing = new CallPairing();
    pairing.call({ name: 'run' }, [0, 0]);
    pairing.beginStep();
    pairing.call({ name: 'run' }, [2, 0]);
    expect(pairing.answer({ name: 'run' }, [3, 0], true).callId).toBe('#2.0');
    expect(pairing.answer({ name: 'run' }, [3, 1], true).callId).toBe('#0.0');
  });

  it('distinguishes calls whose ids repeat, or equal a generated id', () => {
    const pairing = new CallPairing();
    const ids = [
      pairing.call({ id: '#0.1', name: 'run' }, [0, 0]),
      pairing.call({ name: 'run' }, [0, 1]),
      pairing.call({ id: '#0.1', name: 'run' }, [1, 0]),
      pairing.call({ id: '', name: 'run' }, [2, 0]),
    ];
    expect(ids).toEqual(['#0.1', '#0.1#2', '#0.1#3', '#2.0']);
  });

  it('pairs like a search through all open calls for each response', () => {
    let paired = 0;
    fc.assert(
      fc.property(fc.array(EVENT, { maxLength: 300, size: 'max' }), (deeds) => {
        const pairing = new CallPairing();
        const naive = new NaivePairing();
        for (const [at, deed] of deeds.entries()) {
          if (deed.kind === 'step') {
            pairing.beginStep();
            naive.beginStep();
          } else if (deed.kind === 'call') naive.call(deed.use, pairing.call(deed.use, [at, 0]));
          else {
            const expected = naive.answer(deed.use, deed.isComplete);
            const { callId } = pairing.answer(deed.use, [at, 0], deed.isComplete);
            expect(callId).toBe(expected ?? `#${at}.0`);
            if (expected !== undefined) paired += 1;
          }
        }
      }),
      { numRuns: runs(2_000) },
    );
    expect(paired).toBeGreaterThan(1_000);
  });
});
