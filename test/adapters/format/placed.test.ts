// Edits of the parts of a message.

import { describe, expect, it } from 'vitest';

import { toolCall } from '../../../src/shared/content.js';
import type { PlacedBlock } from '../../../src/adapters/format/message-format.js';
import { editsOf } from '../../../src/adapters/format/placed.js';

describe('editsOf', () => {
  const thought: PlacedBlock = {
    type: 'thinking',
    thought: 'Hm.',
    origin: [0, 0],
    isOfPinned: true,
  };
  const call: PlacedBlock = { type: 'opaque', kind: 'x', tokens: 1, origin: [0, 1] };
  const edits = (parts: readonly PlacedBlock[], remaining: readonly PlacedBlock[]) =>
    editsOf({ parts, remaining }, () => false);

  it('can remove the reasoning of a pinned message', () => {
    expect(edits([thought], [thought])).toEqual(new Map());
    expect(edits([thought], [])).toEqual(new Map([[0, null]]));
  });

  it('removes reasoning with everything that it led to, and no other reasoning', () => {
    const thoughts = [0, 2].map((at): PlacedBlock => ({
      ...{ type: 'thinking', thought: 'Hm.' },
      origin: [0, at],
    }));
    const calls = [1, 3].map((at): PlacedBlock => ({
      ...toolCall(`c${at}`, 'read', {}),
      origin: [0, at],
    }));
    const parts = [thoughts[0]!, calls[0]!, thoughts[1]!, calls[1]!];
    const without = (...removed: readonly PlacedBlock[]) =>
      edits(
        parts,
        parts.filter((part) => !removed.includes(part)),
      );
    expect(without(calls[0]!)).toEqual(new Map([0, 1].map((at) => [at, null])));
    expect(without(calls[1]!)).toEqual(new Map([2, 3].map((at) => [at, null])));
    expect(without(...calls)).toBeNull();
    expect(without(thoughts[0]!)).toEqual(new Map([[0, null]]));
  });

  it('removes a text of which an edit has left white space', () => {
    const texts = [0, 1].map((at): PlacedBlock => ({ type: 'text', text: 'a', origin: [0, at] }));
    const blank = { ...texts[0]!, text: ' \n' } as PlacedBlock;
    expect(edits(texts, [blank, texts[1]!])).toEqual(new Map([[0, null]]));
    expect(edits([blank, texts[1]!], [blank])).toEqual(new Map([[1, null]]));
  });

  it('removes separated reasoning together with its message', () => {
    expect(edits([thought, call], [thought])).toBeNull();
    expect(edits([thought, call], [call])).toEqual(new Map([[0, null]]));
  });
});
