// What a change becomes on record.

import { describe, expect, test } from 'vitest';
import { recordRemovalsTo } from '../../../src/main/removal-log/removal-recorder.js';
import { humanText } from '../../../src/shared/content.js';
import { openWriter, recover, temporaryPath } from './recording.js';

const CHANGES = [
  { index: 3, before: humanText('gone'), after: null },
  { index: 5, before: humanText('long'), after: humanText('short') },
];

describe('recordRemovalsTo', () => {
  test('records what stood at each place and what became of it', async () => {
    const path = await temporaryPath();
    const recorder = recordRemovalsTo(await openWriter(path));
    await recorder.record(CHANGES, { sessionId: 'a', kind: 'pruned' });
    await recorder.record(CHANGES.slice(0, 1), { sessionId: 'b', kind: 'compressed' });
    const { records } = await recover(path);
    expect(records).toMatchObject([
      { sessionId: 'a', kind: 'removed', index: 3, entry: humanText('gone') },
      { sessionId: 'a', kind: 'replaced', index: 5, entry: humanText('long') },
      { sessionId: 'b', kind: 'compressed', index: 3, entry: humanText('gone') },
    ]);
  });

  test('passes the signal on', async () => {
    const recorder = recordRemovalsTo(await openWriter(await temporaryPath()));
    const signal = AbortSignal.abort(new Error('enough'));
    const context = { sessionId: 'a', kind: 'pruned', signal } as const;
    await expect(recorder.record(CHANGES, context)).rejects.toThrow('enough');
  });
});
