// A session whose removal log is open in another process: it goes on with edits that have landed, and edits nothing until it can record that.

import { unlink, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { RemovalLog } from '../../../src/main/removal-log/removal-log.js';
import { openSessionLog } from '../../../src/main/removal-log/session-log.js';
import { fullHistory, FULL_WINDOW_LIMIT } from '../preflight/full-window.js';
import { temporaryPath } from './recording.js';

/** Writes the lock of a remote process, which renews it until the returned function is called. */
async function lockElsewhere(path: string): Promise<() => Promise<void>> {
  const lockPath = `${path}.lock`;
  let beats = 0;
  let beating = Promise.resolve();
  const beat = (): Promise<void> => {
    const holder = { pid: 1, host: 'elsewhere', namespace: null, startedAt: null, token: 'one' };
    return writeFile(lockPath, JSON.stringify({ ...holder, beats: (beats += 1) }));
  };
  await beat();
  const timer = setInterval(() => {
    beating = beating.then(beat);
  }, 5);
  const end = async (): Promise<void> => {
    clearInterval(timer);
    await beating;
    await unlink(lockPath);
  };
  onTestFinished(() => clearInterval(timer));
  return end;
}

/** Has logs check locks often, and never take them over. */
function watchLocksClosely(): void {
  const open = RemovalLog.open.bind(RemovalLog);
  const lockTiming = { beatMs: 20, leaseMs: 600_000 };
  const opened = vi
    .spyOn(RemovalLog, 'open')
    .mockImplementation((path, options) => open(path, { ...options, lockTiming }));
  onTestFinished(() => opened.mockRestore());
}

describe('openSessionLog', () => {
  it('lets a session go on without edits while another process has its log open, and edit after that', async () => {
    watchLocksClosely();
    const removalLogPath = temporaryPath();
    const unlock = await lockElsewhere(removalLogPath);
    const warn = vi.fn();
    await using compactor = createCompactor({
      preset: 'specification',
      offload: 'inline',
      tokenizer: 'estimate',
      workspaceRoot: '/w',
      contextLimit: FULL_WINDOW_LIMIT,
      logger: { ...SILENT_LOGGER, warn },
    });
    const history = fullHistory();
    const session = await compactor.createSession({ history, sessionId: 's1', removalLogPath });
    for (let turn = 0; turn < 3; turn += 1) {
      await session.performCompression('p').catch(() => undefined);
      expect(session.history.getAll()).toEqual(history);
    }
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]?.[1]).toMatchObject({
      error: { code: 'REMOVAL_LOG_WRITE_FAILED', message: expect.stringContaining('is held by') },
    });
    await unlock();
    await expect
      .poll(async () => {
        await session.performCompression('p').catch(() => undefined);
        return session.history.length;
      })
      .toBeLessThan(history.length);
    expect(await session.restore('r1')).toMatchObject({ sessionId: 's1' });
  });

  it('opens no log for a session that was closed meanwhile', async () => {
    watchLocksClosely();
    const removalLogPath = temporaryPath();
    const unlock = await lockElsewhere(removalLogPath);
    const log = await openSessionLog({
      path: removalLogPath,
      sessionId: 's1',
      logger: SILENT_LOGGER,
    });
    const isHeld = { code: 'REMOVAL_LOG_WRITE_FAILED', cause: { code: 'ELOCKED' } };
    await expect(log.record('pruned', [])).rejects.toMatchObject(isHeld);
    await unlock();
    await log.close();
    await expect(log.record('pruned', [])).rejects.toMatchObject({ code: 'CLOSED' });
    let other: RemovalLog | undefined;
    const openAgain = async (): Promise<boolean> => {
      other = await RemovalLog.open(removalLogPath).catch(() => undefined);
      return other !== undefined;
    };
    await expect.poll(openAgain).toBe(true);
    await other?.close();
  });
});
