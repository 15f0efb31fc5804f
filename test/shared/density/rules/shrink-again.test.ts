// A repeated result is sent shorter than the first time, even if that was shortened: it refers to what was left of it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../../src/shared/content.js';
import type { IContent } from '../../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../../src/shared/density.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import { isShrunk, withoutMark } from '../../../../src/shared/shrink/shown-before.js';
import { WORKING_TOOLS } from '../../../support/arbitrary-working-history.js';
import { applied } from '../../../support/applied.js';
import { runs } from '../../../support/scale.js';

const CONFIG = {
  ...DEFAULT_DENSITY_CONFIG,
  ...({ workspaceRoot: '/w', toolCatalog: WORKING_TOOLS, shrink: 'default' } as const),
};

/** The results of a command as they are first sent, one after the other. */
function sent(command: string, results: readonly string[]): readonly string[] {
  let history: readonly IContent[] = [humanText('go')];
  return results.map((result, at) => {
    history = [
      ...history,
      aiContent([toolCall(`c${at}`, 'run_shell_command', { command })]),
      toolContent([toolResponse(`c${at}`, 'run_shell_command', result)]),
    ];
    history = applied(history, optimize(history, CONFIG));
    const block = history.at(-1)?.blocks[0];
    return block?.type === 'tool_response' ? String(block.result) : '';
  });
}

/** Whether these lines, with as many others as their notes say, are those of the first text. */
function standsFor(again: string, first: string): boolean {
  const shown = withoutMark(first).split('\n');
  let at = 0;
  for (const line of withoutMark(again).split('\n')) {
    const [, count] = /^\[… (\d+) lines as in run_shell_command .* …\]$/.exec(line) ?? [];
    if (count === undefined && line !== shown[at]) return false;
    at += Number(count ?? 1);
  }
  return at === shown.length;
}

const STEPS = 'resolve fetch unpack link build cache write manifest layer digest'.split(' ');
const step = (at: number): string => `${STEPS[at % 10] ?? ''} ${STEPS[(at * 7) % 9] ?? ''}`;
/** A line of a build log, unlike any other. */
const logged = (at: number, said = `${step(at)} of part-${at}${'x'.repeat(at % 11)}`): string =>
  `test\tRun npm test\t2026-03-04T10:${String(10 + (at % 50))}:00.${at}Z ${said}`;

const LOG = Array.from({ length: 400 }, (_, at) => {
  if (at % 90 === 50) return logged(at, ` FAIL  src/${step(at)}.test.ts > adds ${at}`);
  return at === 399 ? logged(at, '##[error]Process completed with exit code 1.') : logged(at);
});

describe('SHRINK', () => {
  it.each([['gh run view 7 --log-failed'], ['npm test']])(
    'refers to what was left of a repeated long output, and shows its failures again: %s',
    (command) => {
      const [first = '', again = '', third = ''] = sent(
        command,
        Array<string>(3).fill(LOG.join('\n')),
      );
      expect(first.length).toBeGreaterThan(5_000);
      for (const later of [again, third]) {
        expect(standsFor(later, first)).toBe(true);
        expect(later.length).toBeLessThan(1_500);
        expect(later.match(/ FAIL {2}.*| ##\[error\].*/g)).toEqual(
          first.match(/ FAIL {2}.*| ##\[error\].*/g),
        );
      }
    },
  );

  it('shows the new lines of a mostly repeated output', () => {
    const passed = LOG.with(230, logged(230, ' FAIL  src/other.test.ts > is new'));
    const [first = '', again = ''] = sent('npm test', [LOG.join('\n'), passed.join('\n')]);
    expect(again).toContain(' > is new\n');
    expect(again.length).toBeLessThan(0.6 * first.length);
  });

  it('recognizes repeated matches whose paths it has written once', () => {
    const matches = (count: number): string =>
      Array.from(
        { length: count },
        (_, at) => `src/parts/deep-${at % 4}.ts:${at * 3}: ${step(at)} ${at}`,
      )
        .sort()
        .join('\n');
    const [first = '', again = ''] = sent('rg -n part src', [
      matches(40),
      `${matches(40)}\nsrc/z.ts:1: and one more`,
    ]);
    expect(isShrunk(first)).toBe(true);
    expect(again).toMatch(/^\[… 4\d lines as in run_shell_command rg -n part src …\]\n/);
    expect(again).toContain('and one more');
  });

  it('sends nothing longer the second time, and nothing else', () => {
    const seen = { shrunk: 0, failing: 0 };
    const stretch = fc.tuple(
      fc.constantFrom('log', 'fail', 'same', 'numbers', 'color', 'blank'),
      fc.integer({ min: 1, max: 90 }),
    );
    const command = fc.constantFrom(
      'npm test',
      'gh run view 7 --log',
      'node run.js',
      'rg -n x',
      'git status',
    );
    fc.assert(
      fc.property(
        command,
        fc.array(stretch, { minLength: 1, maxLength: 8 }),
        (asked, stretches) => {
          const lines = stretches.flatMap(([kind, count], part) =>
            Array.from({ length: count }, (_, line) => {
              const at = 100 * part + line;
              if (kind === 'fail') return ` FAIL  src/${step(at)}.test.ts > fails ${at}`;
              if (kind === 'numbers') return `copied ${at} of the files in part ${part}`;
              if (kind === 'color')
                return `\u001b[32m✓\u001b[0m ${step(at)} ${'y'.repeat(line % 13)}`;
              if (kind === 'same') return `waiting for part ${part}`;
              return kind === 'blank' ? '' : logged(at);
            }),
          );
          const [first = '', again = ''] = sent(asked, [lines.join('\n'), lines.join('\n')]);
          expect(again.length).toBeLessThanOrEqual(first.length);
          if (!isShrunk(again)) return;
          // Otherwise the lines that were shown in the result itself came out shorter, such as everything in between.
          if (again.endsWith(', lines of earlier results (c0)]')) {
            seen.shrunk += 1;
            expect(standsFor(again, first)).toBe(true);
          }
          if (asked.startsWith('rg') || !first.includes(' FAIL ')) return;
          seen.failing += 1;
          const failing = first
            .split('\n')
            .filter((line) => line.startsWith(' FAIL '))
            .slice(0, 12);
          for (const line of failing) expect(again.split('\n')).toContain(line);
        },
      ),
      { numRuns: runs(1_500) },
    );
    for (const times of Object.values(seen)) expect(times).toBeGreaterThan(0);
  });
});
