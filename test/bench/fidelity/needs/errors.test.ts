// Open failures, and when they end.

import { describe, expect, it } from 'vitest';
import { errorNeeds, hasFailed } from '../../../../bench/fidelity/needs/errors.js';
import { ShownBefore } from '../../../../bench/fidelity/needs/shown-before.js';
import type { Need } from '../../../../bench/fidelity/needs/need.js';
import type { IContent } from '../../../../src/index.js';
import { shell, transcriptOf, user } from '../support/made-session.js';

function needsOf(...parts: readonly (IContent | readonly IContent[])[]): readonly Need[] {
  const transcript = transcriptOf(user('Make it pass.'), ...parts);
  return errorNeeds(transcript, new ShownBefore(transcript.entries));
}

const FAILED = 'building\nsrc/a.ts(3,1): error TS2304: no such name\ndone';

describe('errorNeeds', () => {
  it('needs the significant lines of a failure when the command is run again', () => {
    const needs = needsOf(
      shell('first', 'npm test', FAILED, 'exit 1'),
      shell('between', 'true', ''),
      shell('again', 'npm test', 'ok'),
    );
    expect(needs).toMatchObject([
      {
        kind: 'error',
        entry: 5,
        callId: 'again',
        lines: ['src/a.ts(3,1): error TS2304: no such name'],
      },
    ]);
    expect(needs[0]?.shownBy[0]).toMatchObject([{ callId: 'first' }]);
  });

  it('closes a failure when the command passes', () => {
    const failed = shell('first', 'npm test', FAILED, 'exit 1');
    const passed = shell('second', 'npm test', 'ok');
    expect(needsOf(failed, passed, shell('third', 'npm test', 'ok'))).toHaveLength(1);
  });

  it('replaces an older failure by a newer one', () => {
    const [first, second, third] = ['first', 'second', 'third'].map((id) =>
      shell(id, 'npm test', `Error: ${id}`, 'exit 1'),
    );
    const lines = needsOf(first!, second!, third!).map((need) => need.lines[0]);
    expect(lines).toEqual(['Error: first', 'Error: second']);
  });

  it('identifies a command by what it runs, not by how its output is filtered', () => {
    const failed = shell('first', 'cd /repo && npm test 2>&1 | tail -20', FAILED, 'exit 1');
    expect(needsOf(failed, shell('again', 'npm test', 'ok'))).toHaveLength(1);
    expect(needsOf(failed, shell('other', 'npm run lint', 'ok'))).toEqual([]);
  });

  it('has none for searches and reads, whose exit code only means that nothing was found', () => {
    const failed = shell('first', 'grep -r thing src/', 'Error', 'exit 1');
    expect(needsOf(failed, shell('again', 'grep -r thing src/', 'Error'))).toEqual([]);
  });
});

describe('hasFailed', () => {
  it.each([
    ['Process exited with code 2\nOutput:\n', true],
    ['Process exited with code 0\nOutput:\n', false],
    ['<returncode>1</returncode>', true],
    ['{"output":"","metadata":{"exit_code":101}}', true],
    ['all is well', false],
    [`${'x'.repeat(1_000)}exit code 3${'x'.repeat(1_000)}`, false],
  ])('for %j is %j', (result, failed) => {
    const response = { type: 'tool_response', callId: '1', toolName: 'Bash', result } as const;
    expect(hasFailed(response)).toBe(failed);
    expect(hasFailed({ ...response, error: 'failed' })).toBe(true);
  });
});
