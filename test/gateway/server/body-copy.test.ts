import { describe, expect, it } from 'vitest';
import { BodyCopy } from '../../../src/gateway/server/body-copy.js';

describe('BodyCopy', () => {
  it('treats a body that exceeds the free memory as too large', () => {
    const copy = new BodyCopy(Number.MAX_SAFE_INTEGER, 2 ** 52);
    expect(copy.isTooLarge).toBe(false);
    expect(copy.add(Buffer.from('{'))).toBe(false);
    expect([copy.isTooLarge, copy.bytes.length]).toEqual([true, 0]);
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
