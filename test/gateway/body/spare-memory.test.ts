import { describe, expect, it } from 'vitest';
import { SpareMemory } from '../../../src/gateway/body/spare-memory.js';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';

const KILOBYTE = 1024;

/** Prepared memory is longer than requested. */
async function takeReady(memory: SpareMemory, bytes: number): Promise<Buffer> {
  memory.prepare(bytes);
  for (let turn = 0; turn < 1_000; turn += 1) {
    await nextTurn();
    const taken = memory.take(bytes);
    if (taken.length > bytes) return taken;
  }
  throw new Error('No memory was made ready.');
}

describe('SpareMemory', () => {
  it('prepares memory for a longer body, and returns it once', async () => {
    const memory = new SpareMemory();

    const first = await takeReady(memory, 100 * KILOBYTE);

    expect(first.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(first.every((byte) => byte === 0)).toBe(true);
    expect(memory.take(100 * KILOBYTE)).toHaveLength(100 * KILOBYTE);
    first.fill(1);
    const second = await takeReady(memory, 100 * KILOBYTE);
    expect(second.every((byte) => byte === 0)).toBe(true);
  });

  it('returns no prepared memory for a body that is too long or much too short', async () => {
    const memory = new SpareMemory();
    const { length } = await takeReady(memory, 100 * KILOBYTE);
    memory.prepare(100 * KILOBYTE);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();

    for (const bytes of [length + 1, length / 4, 0]) {
      expect(memory.take(Math.floor(bytes))).toHaveLength(Math.floor(bytes));
    }
  });

  it('throws for more memory than there is', () => {
    expect(() => new SpareMemory().take(2 ** 53)).toThrow(RangeError);
  });
});
