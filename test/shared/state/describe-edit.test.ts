// Which edits rows describe, and edits of any size.

import { describe, expect, it } from 'vitest';
import { sessionDefaults } from '../../../src/main/session-options.js';
import { aiContent, humanText } from '../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { applyDensityResult, NO_EDITS } from '../../../src/shared/density.js';
import { runSlices } from '../../../src/shared/slices.js';
import { describeEdit } from '../../../src/shared/state/describe-edit.js';
import { foldJournal } from '../../../src/shared/state/fold-journal.js';

const { toolCatalog } = sessionDefaults(undefined).density;
const thought: ContentBlock = { type: 'thinking', thought: 'hm' };
const said: ContentBlock = { type: 'text', text: 'done' };
const more: ContentBlock = { type: 'text', text: 'and more' };
const blank: ContentBlock = { type: 'text', text: ' ' };

describe('describeEdit', () => {
  it.each<[string, ContentBlock[], ContentBlock[], string]>([
    ['reasoning', [thought, said, more], [said, more], 'rows'],
    ['an entry that held only reasoning', [thought, blank], [], 'rows'],
    ['reasoning and a text', [thought, said, more], [more], 'splice'],
    ['an entry with reasoning and a text', [thought, said], [], 'splice'],
    ['reasoning in another order', [thought, said, more], [more, said], 'splice'],
  ])('describes the removal of %s so that it can be repeated', (_, blocks, left, kind) => {
    const former = [humanText('go on'), aiContent(blocks)];
    const result = {
      ...NO_EDITS,
      removals: left.length === 0 ? [1] : [],
      replacements: new Map(left.length === 0 ? [] : [[1, aiContent(left)]]),
    };
    const record = describeEdit(2, former, result);
    expect(record.kind).toBe(kind);
    const edited = [...former];
    applyDensityResult(edited, result);
    const { entries, isWhole } = runSlices(foldJournal(former, 2, [record], toolCatalog));
    expect([entries, isWhole]).toEqual([edited, true]);
  });

  it('describes the removal of more reasoning than a call takes arguments', () => {
    const length = 130_000;
    const former = Array.from({ length }, () => aiContent([thought, said]));
    const left = former.map((entry, at): [number, IContent] => [at, { ...entry, blocks: [said] }]);
    const record = describeEdit(length, former, { ...NO_EDITS, replacements: new Map(left) });
    expect(record.kind).toBe('rows');
  });
});
