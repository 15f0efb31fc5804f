// Folders of recorded sessions, analyzed on the calling thread.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { analyzeFiles } from '../../../src/cli/analyze/run-analyze.js';
import type { ReplayOptions } from '../../../src/cli/replay/replay-session.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');
const SMALL = path.join(FIXTURES, 'claude-code/0ccf1a04-subagent-a9cad17.jsonl');
const LARGER = path.join(FIXTURES, 'swe-agent/humanevalfix-python-0.traj');

const scratch = temporaryFolder(afterAll);

const OPTIONS: ReplayOptions = { offload: 'inline', strategy: 'high-density' };

function folderOf(...files: readonly string[]) {
  return { isFolder: true, files };
}

function scratchFile(name: string, content: string): string {
  const file = path.join(scratch, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

describe('analyzeFiles', () => {
  test('sorts sessions by tokens, and names unreadable files', async () => {
    const text = scratchFile('files/notes.md', '# Notes');
    const damaged = scratchFile('files/damaged.json', '{"messages": [');
    const done: number[] = [];
    const { sessions, unread } = await analyzeFiles(folderOf(text, SMALL, damaged, LARGER), {
      ...OPTIONS,
      progress: {
        begin: () => (files) => void done.push(files),
        close: () => undefined,
      },
    });
    expect(sessions.map(({ file, format }) => [file, format])).toEqual([
      [LARGER, 'swe-agent'],
      [SMALL, 'claude-code'],
    ]);
    expect(unread.map(({ file, code }) => [file, code])).toEqual([
      [text, 'UNKNOWN_FORMAT'],
      [damaged, 'UNREADABLE_TRANSCRIPT'],
    ]);
    expect(done).toEqual([1, 2, 3, 4]);
  });

  test('reports progress by files, or by stages of a single one', async () => {
    const stagesOf = async (...files: readonly string[]) => {
      const stages: string[] = [];
      const begin = (_: number, doing: string) => {
        stages.push(doing);
        return () => undefined;
      };
      const progress = { begin, close: () => undefined };
      await analyzeFiles(folderOf(...files), { ...OPTIONS, progress });
      return stages;
    };
    expect(await stagesOf(SMALL, LARGER)).toEqual(['analyzing']);
    expect(await stagesOf(SMALL)).toEqual(['reading', 'replaying']);
  });

  test('rejects if an explicitly named file cannot be read', async () => {
    const text = scratchFile('files/single.md', '# Notes');
    const analyzed = analyzeFiles({ isFolder: false, files: [text] }, OPTIONS);
    await expect(analyzed).rejects.toMatchObject({ code: 'UNKNOWN_FORMAT' });
  });

  test('rejects with the reason of its signal', async () => {
    const reason = new Error('enough');
    const signal = AbortSignal.abort(reason);
    await expect(analyzeFiles(folderOf(SMALL), { ...OPTIONS, signal })).rejects.toBe(reason);
  });

  test('decides about edits by the given price, whatever model a recording names', async () => {
    // Its model is in the price table, and its edits only pay with cheap cache reads.
    const named = path.join(FIXTURES, 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl');
    const sentAt = async (cacheRead: number) => {
      const price = { name: '', input: 10, cacheRead, cacheWrite: 12.5 };
      const { sessions } = await analyzeFiles(folderOf(named), { ...OPTIONS, price });
      return sessions[0]!.input.with;
    };
    expect(await sentAt(10)).toBeLessThan(await sentAt(0.05));
  });

  test('uses the given format', async () => {
    const wrong = await analyzeFiles(folderOf(LARGER), { ...OPTIONS, format: 'cline' });
    expect(wrong.unread).toMatchObject([{ file: LARGER, code: 'UNKNOWN_FORMAT' }]);
    const right = await analyzeFiles(folderOf(LARGER), { ...OPTIONS, format: 'swe-agent' });
    expect(right.sessions).toMatchObject([{ file: LARGER, format: 'swe-agent' }]);
  });
});
