// A closed session leaves no history, handle, listener, file or thread behind; otherwise a server would eventually run out
// of memory. `npm run soak` runs the same at length.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';

import { runs } from '../support/scale.js';

describe('nothing', () => {
  it('grows with sessions, turns, conversations, threads that die and compactors', async () => {
    const items = String(runs(400, 40));
    const child = spawn(process.execPath, ['--expose-gc', 'scripts/soak.js', '--items', items]);
    onTestFinished(() => void child.kill());
    const closed = once(child, 'close') as Promise<[number | null]>;
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [code] = await closed;
    const reports = stdout.trim().split('\n');
    expect(reports.filter((report) => !report.endsWith('"grown":[]}'))).toEqual([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(reports).toHaveLength(6);
  });
});
