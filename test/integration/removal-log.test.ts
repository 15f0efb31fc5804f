// A removal log through the built package, on worker threads. Requires `npm run build`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompactor, isToolResponseBlock } from 'ctxfold';
import { readRemovals, restore } from 'ctxfold/removal-log';
import type { IContent, OffloadMode, ToolResponseBlock, Session } from 'ctxfold';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generateHistory } from '../../bench/support/generate-history.js';
import { PLAYS_ALL, sample } from '../support/scale.js';

const ENTRIES = PLAYS_ALL ? 1_200 : 600;
/** A third of the history's tokens. */
const CONTEXT_LIMIT = ENTRIES * 100;

async function temporaryPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ctxfold-session-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, 'logs', 'transcript.jsonl');
}

async function open(
  removalLogPath: string,
  offload: OffloadMode,
  history: readonly IContent[] = [],
): Promise<Session> {
  const compactor = createCompactor({
    offload,
    tokenizer: 'estimate',
    workspaceRoot: '/w',
    contextLimit: CONTEXT_LIMIT,
  });
  onTestFinished(() => compactor.close());
  const session = await compactor.createSession({ removalLogPath, history, sessionId: 's' });
  session.on('fallback', ({ error }) => {
    throw error;
  });
  return session;
}

function responsesOf(history: readonly IContent[]): readonly ToolResponseBlock[] {
  return history.flatMap(({ blocks }) => blocks.filter(isToolResponseBlock));
}

describe('createSession with a removal log', () => {
  it.each(sample(['inline', 'snapshot'], 1))(
    'restores all that a long session has lost, and after it was taken up again (%s)',
    async (offload) => {
      const path = await temporaryPath();
      const entries = generateHistory({ entries: ENTRIES });
      const session = await open(path, offload);
      for (let start = 0; start < ENTRIES; start += 100) {
        session.history.addAll(entries.slice(start, start + 100));
        const { totalTokens } = await session.ensureCompressionBeforeSend(`turn ${start}`);
        expect(totalTokens).toBeLessThanOrEqual(CONTEXT_LIMIT);
      }
      const left = session.history.getAll();
      const present = new Set(responsesOf(left).map((block) => JSON.stringify(block)));
      const gone = responsesOf(entries).filter((block) => !present.has(JSON.stringify(block)));
      expect(gone.length).toBeGreaterThan(100);
      for (const original of gone) {
        expect((await session.restore(original.callId)).response).toEqual(original);
      }
      await session.close();

      const again = await open(path, offload, left);
      for (const original of gone) {
        const { response } = await again.restore(original.callId);
        expect(JSON.stringify(response)).toBe(JSON.stringify(original));
      }
      const [first] = gone;
      if (first === undefined) throw new Error('Nothing is gone.');
      expect((await restore(path, first.callId, { sessionId: 's' })).response).toEqual(first);

      const reading = readRemovals(path);
      let records = 0;
      for await (const { record } of reading) {
        expect(record.sessionId).toBe('s');
        records += 1;
      }
      expect(records).toBeGreaterThan(gone.length);
      expect(reading.skippedBytes).toBe(0);
    },
  );

  it('keeps two sessions off one file', async () => {
    const path = await temporaryPath();
    const session = await open(path, 'inline');
    await expect(open(path, 'inline')).rejects.toMatchObject({ code: 'REMOVAL_LOG_WRITE_FAILED' });
    await session.close();
    await (await open(path, 'inline')).close();
  });
});
