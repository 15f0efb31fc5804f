// Texts on which a backtracking pattern would take minutes. The patterns in use take milliseconds.

import { expect, it } from 'vitest';
import { modelPrice, runsCommands } from '../../src/index.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../src/shared/content.js';
import { Draft } from '../../src/shared/shrink/shrinker.js';
import { TERMINAL_CODES } from '../../src/shared/shrink/terminal-codes.js';
import { gatherWork, NO_WORK } from '../../src/shared/work/work-record.js';

it('the id of a model with many colons and a line break', () => {
  expect(modelPrice(`${':'.repeat(200)}\nx`)).toBeUndefined();
  expect(modelPrice(`claude-opus-4-5${'@'.repeat(200)}\nx`)?.name).toBe('claude-opus-4-5');
});

it('a long line with one code of a terminal', () => {
  const text = `\u001b[1m${'a'.repeat(600_000)}`;
  const asked = { purpose: 'command', command: 'run', level: 'lossless' } as const;
  expect(TERMINAL_CODES.shrink(Draft.ofText(text), asked)?.text).toBe('a'.repeat(600_000));
});

it('a command of empty lines', () => {
  const call = toolCall('1', 'run_shell_command', { command: '\n'.repeat(600_000) });
  const work = gatherWork({
    history: [aiContent([call]), toolContent([toolResponse('1', call.name, 'done')])],
    fateOf: () => 'removed',
    callOf: () => call,
    toolCatalog: { run_shell_command: runsCommands() },
    earlier: NO_WORK,
  });
  expect(work.userWords).toEqual([]);
});
