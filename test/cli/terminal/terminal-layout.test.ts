import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { terminalLayout } from '../../../src/cli/terminal/terminal-layout.js';

describe('terminalLayout', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '' }, false, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ FORCE_COLOR: 'false' }, true, false],
  ])('with %o, and a terminal: %s, colours: %s', (env, isTTY, isColoured) => {
    const { isTTY: former } = process.stdout;
    onTestFinished(() => {
      vi.unstubAllEnvs();
      Object.assign(process.stdout, { isTTY: former });
    });
    for (const [name, value] of Object.entries({ FORCE_COLOR: '', NO_COLOR: '', TERM: '', ...env }))
      vi.stubEnv(name, value);
    Object.assign(process.stdout, { isTTY });
    expect(terminalLayout().paint('bold', 'text') !== 'text').toBe(isColoured);
  });
});
