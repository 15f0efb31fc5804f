// The changes that should not matter, on a small session.

import { describe, expect, it } from 'vitest';
import { metamorphicTable } from '../../../bench/fidelity/metamorphic-report.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import { TRANSFORMATIONS } from '../../../bench/fidelity/transformations.js';
import { validate } from '../../../src/validate.js';
import { exchange, read, says, shell, transcriptOf, user } from './support/made-session.js';

const SESSION = transcriptOf(
  user('go'),
  ...read('a', '/repo/src/a.ts', '     1\tconst first = 1;\n     2\tconst second = 2;'),
  ...shell('b', 'npm test --prefix /repo/src', 'ok\nall passed'),
  ...exchange(
    'c',
    'Edit',
    { file_path: '/repo/src/a.ts', old_string: 'const first = 1;', new_string: '' },
    'done',
  ),
  says('done'),
);

const changed = TRANSFORMATIONS.map(({ name, apply }) => ({ name, session: apply(SESSION) }));

describe('TRANSFORMATIONS', () => {
  it.each(changed.slice(1))('changes the session, $name', ({ session }) => {
    expect(session.entries).not.toEqual(SESSION.entries);
  });

  it.each(changed)('pairs calls with results and keeps the edit, $name', ({ session }) => {
    expect(validate(session.entries, 'anthropic')).toEqual([]);
    const blocks = session.entries.flatMap((entry) => entry.blocks);
    const calls = blocks.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
    expect(calls).toEqual(['a', 'b', 'c']);
    expect(recordSession('s', session)).toMatchObject({ edits: [{ callId: 'c' }], unseenEdits: 0 });
  });
});

describe('metamorphicTable', () => {
  it('has a row for each transformation', async () => {
    const { rows, heads } = await metamorphicTable([recordSession('s', SESSION)]);
    expect(rows.map(([name]) => name)).toEqual(TRANSFORMATIONS.map(({ name }) => name));
    for (const row of rows) expect(row).toHaveLength(heads.length);
    for (const row of rows) expect(row.slice(-2)).toEqual(['100.0 %', '1']);
  });
});
