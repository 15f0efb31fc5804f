// How calls are named: their key parameters, and the names by which results refer to them.

import { describe, expect, it } from 'vitest';

import { callName, keyOfCall } from '../../src/shared/call-name.js';
import { toolCall } from '../../src/shared/content.js';
import { withoutSpentText } from '../../src/shared/density/index/spent-text.js';

describe('keyOfCall', () => {
  it('is on one line and no longer than can be shown', () => {
    expect(keyOfCall(toolCall('c1', 'tool', { command: 'ls\n  -l\n' }))).toBe('ls   -l');
    expect(keyOfCall(toolCall('c1', 'tool', { command: 'x'.repeat(500) }))).toHaveLength(400);
  });

  it('is undefined for a call without one', () => {
    expect(keyOfCall(toolCall('c1', 'tool', { path: ' ', limit: 7 }))).toBeUndefined();
  });
});

describe('callName', () => {
  it('is the tool and its key parameter, shortened to the end of a long path, without half a character', () => {
    expect(callName(toolCall('c1', 'look', {}))).toBe('look');
    expect(callName(toolCall('c1', 'run', { command: 'npm  test' }))).toBe('run npm  test');
    expect(callName(toolCall('c1', 'read', { path: `${'a/'.repeat(40)}b.ts` }))).toMatch(
      /^read …(?:\/a){17}\/b\.ts$/,
    );
    const emoji = callName(toolCall('c1', 'read', { path: `${'😀'.repeat(40)}xx` }));
    expect(emoji).not.toMatch(/\p{Surrogate}/u);
    expect(callName(undefined)).toBe('another call');
  });

  it('is the same after spent texts of its arguments were removed', () => {
    const parameters = { old_string: 'x'.repeat(400), where: 'b.ts', new_string: 'y' };
    const spent = withoutSpentText(parameters);
    expect(spent).not.toEqual(parameters);
    expect(callName(toolCall('c1', 'edit', spent))).toBe(
      callName(toolCall('c1', 'edit', parameters)),
    );
  });
});
