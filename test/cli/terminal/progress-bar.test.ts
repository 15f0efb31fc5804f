import { expect, it, onTestFinished, vi } from 'vitest';
import { openProgress } from '../../../src/cli/terminal/progress-bar.js';

it.each([
  ['', true],
  ['dumb', false],
])('TERM=%s shows a bar: %s', async (terminal, isShown) => {
  const { isTTY, columns } = process.stderr;
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    written.mockRestore();
    vi.unstubAllEnvs();
    Object.assign(process.stderr, { isTTY, columns });
  });
  vi.stubEnv('TERM', terminal);
  Object.assign(process.stderr, { isTTY: true, columns: 100 });
  const progress = await openProgress(false);
  progress.begin(3, 'reading', 'MB')(1);
  progress.close();
  expect(written.mock.calls.length > 0).toBe(isShown);
});
