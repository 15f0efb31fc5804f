// How a change is recorded.

import { describe, expect, test, vi } from 'vitest';
import { writeFailed } from '../../../src/main/removal-log/removal-log-errors.js';
import { SessionLog } from '../../../src/main/removal-log/session-log.js';
import { restore } from '../../../src/main/removal-log/restore.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';
import { openWriter, recover, temporaryPath } from './recording.js';

const CHANGES = [
  { index: 3, before: humanText('gone'), after: null },
  { index: 5, before: humanText('long'), after: humanText('short') },
];

async function openLog(path: string, sessionId: string): Promise<SessionLog> {
  return new SessionLog({ path, sessionId, logger: SILENT_LOGGER }, await openWriter(path));
}

describe('SessionLog', () => {
  test('records what stood at each place and what replaced it', async () => {
    const path = temporaryPath();
    const log = await openLog(path, 'a');
    await log.record('pruned', CHANGES);
    await log.record('compressed', CHANGES.slice(0, 1));
    const { records } = await recover(path);
    expect(records).toMatchObject([
      { sessionId: 'a', kind: 'removed', index: 3, entry: humanText('gone') },
      { sessionId: 'a', kind: 'replaced', index: 5, entry: humanText('long') },
      { sessionId: 'a', kind: 'compressed', index: 3, entry: humanText('gone') },
    ]);
  });

  test('marks the replacement of a result as no original', async () => {
    const path = temporaryPath();
    const log = await openLog(path, 'a');
    const [long, short] = historyOf('t:r1(long) t:r1(short)') as [IContent, IContent];
    await log.record('pruned', [{ index: 1, before: long, after: short }]);
    await log.record('pruned', [{ index: 1, before: short, after: null }]);
    const { response } = await restore(path, 'r1', { sessionId: 'a' });
    expect(response.result).toBe('long');
  });

  test('passes the signal on', async () => {
    const log = await openLog(temporaryPath(), 'a');
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(log.record('pruned', CHANGES, signal)).rejects.toThrow('enough');
    expect(log.takeFailure()).toBeUndefined();
  });

  test('throws the error with which writing began to fail once, and again after it has worked', async () => {
    const append = vi.fn(() => Promise.resolve());
    const opened = Object.assign(await openWriter(temporaryPath()), { append });
    const options = { path: opened.path, sessionId: 'a', logger: SILENT_LOGGER };
    const log = new SessionLog(options, opened);
    const error = writeFailed('log', new Error('no space'));
    const fail = async (): Promise<void> => {
      append.mockImplementationOnce(() => Promise.reject(error));
      await expect(log.record('pruned', CHANGES)).rejects.toBe(error);
    };
    await fail();
    expect(log.takeFailure()).toBe(error);
    await fail();
    expect(log.takeFailure()).toBeUndefined();
    await log.record('pruned', CHANGES);
    await fail();
    expect(log.takeFailure()).toBe(error);
  });
});
