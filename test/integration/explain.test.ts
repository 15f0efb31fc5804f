// Compares what a session explains about its next pass with that pass, wherever that is planned. Imports the built package;
// requires `npm run build`.

import { createCompactor } from 'ctxfold';
import { readTranscript } from 'ctxfold/transcripts';
import type { EntryChange, OffloadMode, Session } from 'ctxfold';
import type { Transcript } from 'ctxfold/transcripts';
import { describe, expect, it } from 'vitest';
import { length } from '../support/scale.js';

const FIXTURE = new URL(
  '../fixtures/transcripts/claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl',
  import.meta.url,
).pathname;

/** The entries that the next pass will change, by the session's own explanation. */
function foretold(session: Session): readonly string[] {
  return session.history
    .getRawHistory()
    .map((_, index) => session.explain(index))
    .filter(({ verdict }) => verdict !== 'kept')
    .map(({ index, verdict }) => `${index} ${verdict}`);
}

function changed(changes: readonly EntryChange[]): readonly string[] {
  return changes.map(({ index, after }) => `${index} ${after === null ? 'removed' : 'changed'}`);
}

/** Plays a session. Returns how many entries its passes changed, and how many of these a resident history planned. */
async function play(mode: OffloadMode, { entries, preset, workspaceRoot }: Transcript) {
  const compactor = createCompactor({ offload: mode, threads: 1, workspaceRoot });
  const session = await compactor.createSession({ density: preset, edits: 'every-turn' });
  let edits = 0;
  for (const entry of entries.slice(0, length(entries.length))) {
    if (entry.speaker === 'ai') {
      const expected = foretold(session);
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      expect(changed(pruned?.changes ?? [])).toEqual(expected);
      edits += expected.length;
    }
    session.history.add(entry);
  }
  const { residentPasses } = session.stats();
  await compactor.close();
  return { edits, residentPasses };
}

describe('Session', () => {
  it.each(['inline', 'snapshot', 'resident'] as const)(
    'explains what the next pass does: %s',
    async (mode) => {
      const { edits, residentPasses } = await play(mode, await readTranscript(FIXTURE));
      expect(edits).toBeGreaterThan(0);
      expect(residentPasses > 0).toBe(mode === 'resident');
    },
  );
});
