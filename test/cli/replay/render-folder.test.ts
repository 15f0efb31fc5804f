// The table of a folder's sessions, at widths too narrow for names of files.

import { describe, expect, test } from 'vitest';
import { sumInput } from '../../../src/cli/replay/money.js';
import { renderFolder } from '../../../src/cli/replay/render-folder.js';
import type { FolderReplayReport } from '../../../src/cli/replay/render-folder.js';
import { layoutOf } from '../../../src/cli/terminal/terminal-layout.js';

function reportOf(without: number): FolderReplayReport {
  const tokens = { without, with: Math.round(without * 0.7) };
  const totals = { entries: 3_055, modelCalls: 1_491, end: tokens, input: tokens };
  return {
    ...{ reportVersion: 1, path: '/sessions', sessions: [], unread: [] },
    totals: { ...totals, money: sumInput([]) },
  };
}

/** Renders sessions with `without` tokens each. */
function render(without: number, columns: number, count: number = 1): readonly string[] {
  const report = reportOf(without);
  const { input, end } = report.totals;
  const session = {
    file: `/sessions/${'long-name-'.repeat(9)}0.jsonl`,
    modelCalls: Array.from({ length: 1_491 }),
    ...{ input, end: { tokens: end }, money: { price: { origin: 'given', price: {} } } },
  };
  const sessions = Array.from(
    { length: count },
    () => session,
  ) as unknown as FolderReplayReport['sessions'];
  return renderFolder({ ...report, sessions }, layoutOf(columns, false)).split('\n');
}

describe('renderFolder', () => {
  test.each([1_000, 40_846_499, 999_999_999])(
    'has a row per session on a terminal of 80 columns, with %i tokens',
    (without) => {
      const lines = render(without, 80);
      expect(lines.every((line) => line.length <= 80)).toBe(true);
      const head = lines.find((line) => line.startsWith('session '));
      expect(head).toMatch(/ calls +sent without +with +saved +at the end$/);
      expect(lines).toContainEqual(expect.stringMatching(/^…\S*-0\.jsonl +1,491 .* 30\.0 %$/));
      expect(lines).toContainEqual(expect.stringMatching(/^all sessions +1,491 .* 30\.0 %$/));
    },
  );

  test('lists the first fifty of many sessions', () => {
    const lines = render(1_000, 80, 3_000);
    expect(lines.filter((line) => line.includes('-0.jsonl'))).toHaveLength(50);
    expect(lines).toContain('and 2,950 more sessions; --json lists all');
  });

  test('uses the width of a wide terminal for names', () => {
    expect(render(1_000, 160).join('\n')).toContain(`${'long-name-'.repeat(9)}0.jsonl `);
  });
});
