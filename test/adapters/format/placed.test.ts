// Edits of the parts of a message.

import { describe, expect, it } from 'vitest';

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

  it('removes separated reasoning together with its message', () => {
    expect(edits([thought, call], [thought])).toBeNull();
    expect(edits([thought, call], [call])).toEqual(new Map([[0, null]]));
  });
});
