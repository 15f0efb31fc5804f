// Recorded sessions through the adapters, with providers that bind reasoning to its prefix: nothing is refused or dropped,
// and edits still land. `npm run bound-reasoning` plays whole folders.

import { describe, expect, it } from 'vitest';

import { playClaude, playGpt } from '../support/bound-talks.js';
import { recordedEntries } from '../support/recorded-talks.js';
import { length, sample } from '../support/scale.js';

const FILES = [
  'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
  'codex/jdx-mise__71-b56c467073-0.jsonl',
] as const;

describe('a provider that binds reasoning to its prefix', () => {
  it.each(sample(FILES, 1))(
    'refuses no request of %s if it refuses like Claude, and edits land',
    async (file) => {
      const entries = await recordedEntries(file, length(90, 50));
      for (const edits of ['auto', 'append-only'] as const) {
        const { requests, broken, edits: landed } = await playClaude(entries, edits);
        expect(requests).toBeGreaterThan(5);
        expect(broken).toBe(0);
        expect(landed).toBeGreaterThan(0);
      }
    },
  );

  it.each(sample(FILES, 1))('drops no reasoning of %s if it drops like GPT-6.2', async (file) => {
    const entries = await recordedEntries(file, length(90, 50));
    for (const edits of ['auto', 'append-only'] as const) {
      const { requests, broken } = await playGpt(entries, 'gpt-6.2-sol', edits);
      expect(requests).toBeGreaterThan(5);
      expect(broken).toBe(0);
    }
  });

  it('would refuse or drop reasoning under other policies', async () => {
    const entries = await recordedEntries(FILES[0], length(90, 50));
    const { broken } = await playClaude(entries, 'every-turn', 'keep');
    expect(broken).toBeGreaterThan(0);
    expect((await playGpt(entries, 'gpt-5.5')).broken).toBeGreaterThan(0);
  });
});
