// Several recorded sessions, played one after the other.

import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { playFiles } from '../../../src/cli/replay/play-file.js';

const FIXTURES = path.resolve('test/fixtures/transcripts');
const FILES = [
  'claude-code/0ccf1a04-subagent-a9cad17.jsonl',
  'swe-agent/humanevalfix-python-0.traj',
  'cline/session.messages.json',
].map((name) => path.join(FIXTURES, name));

describe('playFiles', () => {
  test('plays all files of a folder with the same threads', async () => {
    let threads = 0;
    const count = (): void => void (threads += 1);
    process.on('worker', count);
    const options = { offload: 'resident', threads: 1, strategy: 'high-density' } as const;
    const { sessions } = await playFiles({ isFolder: true, files: FILES }, options, (played) => {
      return played.report.offload.workerTasks;
    });
    process.removeListener('worker', count);
    expect(sessions.every((tasks) => tasks > 0)).toBe(true);
    expect(threads).toBe(1);
  });
});
