import { describe, expect, it } from 'vitest';
import { CallPairing } from '../../src/adapters/call-pairing.js';

describe('CallPairing', () => {
  it('pairs by id where there is one', () => {
    const pairing = new CallPairing();
    expect(pairing.call({ id: 'a', name: 'read' }, [0, 0])).toBe('a');
    expect(pairing.call({ id: 'b', name: 'read' }, [0, 1])).toBe('b');
    expect(pairing.answer({ id: 'b', name: 'read' }, [1, 0], true)).toEqual({
      blockId: 'b',
      name: 'read',
    });
    expect(pairing.answer({ id: 'a' }, [1, 1], true)).toEqual({ blockId: 'a', name: 'read' });
  });

  it('pairs by name in the order of the calls where there is none', () => {
    const pairing = new CallPairing();
    const calls = ['read', 'write', 'read'].map((name, part) => pairing.call({ name }, [0, part]));
    expect(calls).toEqual(['#0.0', '#0.1', '#0.2']);
    const answers = ['write', 'read', 'read'].map(
      (name, part) => pairing.answer({ name }, [1, part], true).blockId,
    );
    expect(answers).toEqual(['#0.1', '#0.0', '#0.2']);
  });

  it('gives a response an id of its own when it answers nothing', () => {
    const pairing = new CallPairing();
    pairing.call({ id: 'a', name: 'read' }, [0, 0]);
    expect(pairing.answer({ id: 'x', name: 'read' }, [1, 0], true).blockId).toBe('#1.0');
    expect(pairing.answer({ name: 'write' }, [1, 1], true).blockId).toBe('#1.1');
    expect(pairing.answer({ name: 'read' }, [1, 2], true).blockId).toBe('a');
  });

  it('keeps a call open while more of its response is to come', () => {
    const pairing = new CallPairing();
    pairing.call({ name: 'run' }, [0, 0]);
    expect(pairing.answer({ name: 'run' }, [1, 0], false).blockId).toBe('#0.0');
    expect(pairing.answer({ name: 'run' }, [2, 0], true).blockId).toBe('#0.0');
    expect(pairing.answer({ name: 'run' }, [3, 0], true).blockId).toBe('#3.0');
  });

  it('prefers a call of the present step to one that was never answered', () => {
    const pairing = new CallPairing();
    pairing.call({ name: 'run' }, [0, 0]);
    pairing.beginStep();
    pairing.call({ name: 'run' }, [2, 0]);
    expect(pairing.answer({ name: 'run' }, [3, 0], true).blockId).toBe('#2.0');
    expect(pairing.answer({ name: 'run' }, [3, 1], true).blockId).toBe('#0.0');
  });

  it('tells calls apart whose ids repeat, or look like one that was made up', () => {
    const pairing = new CallPairing();
    const ids = [
      pairing.call({ id: '#0.1', name: 'run' }, [0, 0]),
      pairing.call({ name: 'run' }, [0, 1]),
      pairing.call({ id: '#0.1', name: 'run' }, [1, 0]),
      pairing.call({ id: '', name: 'run' }, [2, 0]),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('#0.1');
  });
});
