// The saving by pruning before a provider's compaction, for a fixture session.

import { describe, expect, it } from 'vitest';
import { compactionTable } from '../../../bench/fidelity/compaction-report.js';
import { loadSessions } from '../../../bench/fidelity/load-sessions.js';

const FOLDER = 'test/fixtures/transcripts';
const LONG = `${FOLDER}/codex/jdx-mise__71-b56c467073-0.jsonl`;
const SHORT = `${FOLDER}/claude-code/edit-tool-variants.jsonl`;

describe('compactionTable', () => {
  it('shows fewer, smaller and cheaper compactions while there are any, and omits sessions that fit the window', async () => {
    const { contexts } = await loadSessions([LONG, SHORT]);
    const { rows, heads } = await compactionTable(contexts);
    expect(rows.map(([, sessions]) => sessions)).toEqual(['1', '1', '1']);
    for (const row of rows) {
      expect(row).toHaveLength(heads.length);
      const [, , compactions = '', given, , ...costs] = row;
      const [alone = NaN, pruned = NaN] = compactions.split(' → ').map(Number);
      expect(alone).toBeGreaterThan(0);
      expect(pruned).toBeLessThanOrEqual(alone);
      expect(Number(given)).toBeLessThan(100);
      // Without any compaction, everything is sent to the end, which may cost more than a summary.
      if (pruned > 0) for (const cost of costs) expect(Number(cost)).toBeLessThan(100);
    }
  });
});
