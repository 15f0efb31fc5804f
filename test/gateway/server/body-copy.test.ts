import { describe, expect, it, vi } from 'vitest';
import { SpareMemory } from '../../../src/gateway/body/spare-memory.js';
import { BodyCopy } from '../../../src/gateway/server/body-copy.js';

describe('BodyCopy', () => {
  it('treats a body that exceeds the free memory as too large', () => {
    const copy = new BodyCopy(Number.MAX_SAFE_INTEGER, 2 ** 52);
    expect(copy.isTooLarge).toBe(false);
    expect(copy.add(Buffer.from('{'))).toBe(false);
    expect([copy.isTooLarge, copy.bytes.length]).toEqual([true, 0]);
  });

  it('takes memory once for a body whose length is announced', () => {
    const memory = new SpareMemory();
    const take = vi.spyOn(memory, 'take');
    const copy = new BodyCopy(1_000_000, 300_000, memory);
    for (let at = 0; at < 3; at += 1) copy.add(Buffer.alloc(100_000));
    expect(take.mock.calls).toEqual([[300_000]]);
    expect(copy.bytes).toHaveLength(300_000);
  });

  it('holds nothing of a body that is too large', () => {
    const copy = new BodyCopy(10);
    expect(copy.add(Buffer.from('12345678'))).toBe(true);
    expect(copy.bytes.toString()).toBe('12345678');
    expect(copy.add(Buffer.from('9ab'))).toBe(false);
    expect(copy.bytes.buffer.byteLength).toBe(0);
    expect(copy.add(Buffer.from('1'))).toBe(false);
  });
});
