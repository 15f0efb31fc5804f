// A rewritten list described by its former version, and reconstructed from it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sourcesOfRewrite } from '../../../src/main/offload/delta-queue.js';
import { humanText } from '../../../src/shared/content.js';

describe('sourcesOfRewrite', () => {
  it('describes every list by another, whatever they have in common', () => {
    const supply = Array.from({ length: 12 }, () => humanText('equal, but not the same'));
    const list = fc.array(fc.constantFrom(...supply), { maxLength: 20, size: 'max' });
    fc.assert(
      fc.property(list, list, (former, contents) => {
        const { sources, added } = sourcesOfRewrite(former, contents);
        const left = added.values();
        const rebuilt = [...sources].map((source) =>
          source === -1 ? left.next().value : former[source],
        );
        expect(rebuilt.length).toBe(contents.length);
        rebuilt.forEach((entry, at) => {
          expect(entry).toBe(contents[at]);
        });
        expect(left.next().done).toBe(true);
        expect(added.filter((entry) => former.includes(entry))).toEqual([]);
      }),
    );
  });
});
