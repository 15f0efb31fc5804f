// A shortened result tells how its call came out, whatever it has left to earlier results.

import { describe, expect, it } from 'vitest';

import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../../src/shared/content.js';
import type { IContent, ToolResponseBlock } from '../../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../../src/shared/density.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import { failedPartIn } from '../../../../src/shared/shrink/denied-parts.js';
import { fieldsOfResult } from '../../../../src/shared/exit-code.js';
import { hasFailed, outcomeOf } from '../../../../src/shared/shrink/reported-outcome.js';
import { isShrunk } from '../../../../src/shared/shrink/shown-before.js';
import { applied } from '../../../support/applied.js';
import { WORKING_TOOLS } from '../../../support/arbitrary-working-history.js';

const CONFIG = {
  ...DEFAULT_DENSITY_CONFIG,
  ...({
    workspaceRoot: '/w',
    toolCatalog: WORKING_TOOLS,
    shrink: 'default',
    placeholder: 'recallable',
  } as const),
};

/** The last of several results of a tool, as it is sent first. */
function sent(tool: string, parameters: object, results: readonly unknown[]): ToolResponseBlock {
  const history: IContent[] = [
    humanText('go'),
    ...results.flatMap((result, at) => [
      aiContent([toolCall(`c${at}`, tool, parameters)]),
      toolContent([toolResponse(`c${at}`, tool, result)]),
    ]),
  ];
  const block = applied(history, optimize(history, CONFIG)).at(-1)?.blocks.at(-1);
  if (block?.type !== 'tool_response') throw new Error('There is no result.');
  return block;
}

const STEPS = Array.from(
  { length: 40 },
  (_, at) => `step ${at}: copied part-${at}.bin to the bucket`,
);
const log = (start: readonly string[], end: readonly string[]): string =>
  [...start, ...STEPS, ...end].join('\n');
const items = Array.from({ length: 20 }, (_, at) => ({
  id: `p${at}`,
  amount: at * 13,
  note: 'paid',
}));
const json = (answer: object): string => JSON.stringify({ ...answer, items }, null, 2);

describe('SHRINK', () => {
  it.each([
    [
      'failed again',
      'run_pipeline',
      { name: 'release' },
      ['ERROR: cannot reach registry:5000'],
      true,
    ],
    [
      'failed again',
      'run_shell_command',
      { command: 'make' },
      ['make: *** [Makefile:3: all] Error 2'],
      true,
    ],
    [
      'ended well again',
      'run_shell_command',
      { command: 'make' },
      ['All checks passed.', 'took 3 s'],
      false,
    ],
  ])('leaves the lines by which a run has %s: %s', (_, tool, parameters, end, isFailed) => {
    const start = (time: number): string[] => [
      `at 10:0${time}`,
      ...(isFailed ? [] : [`error: lost connection ${time}, retrying`]),
    ];
    const runs = [1, 2].map((time) => log(start(time), end));
    const last = sent(tool, parameters, runs);
    expect(isShrunk(String(last.result))).toBe(true);
    expect(String(last.result)).toContain(end[0]);
    expect(hasFailed(last)).toBe(isFailed);
  });

  it('leaves the exit code at the start of what failed again', () => {
    const output = (end: string): string =>
      `<returncode>1</returncode>\n<output>\n${STEPS.join('\n')}\n${end}\n</output>`;
    const last = sent('run_shell_command', { command: 'node a.js' }, [
      output('one'),
      output('two'),
    ]);
    expect(String(last.result)).toMatch(/^<returncode>1<\/returncode>\n.*\n\[… 40 lines as in /);
    expect(outcomeOf(last)).toBe('failed');
  });

  it.each([
    { success: false, message: 'The card was declined.' },
    { status: 'failed', reason: 'The window is closed.' },
    { error: { code: 'declined', message: 'The card was declined.' } },
    { exit_code: 1 },
    { succeeded: 19, failed: 1 },
    { errors: [1, 2, 3].map((line) => ({ line, reason: 'unknown article' })) },
  ])('leaves the fields by which data says that its call has failed: %j', (answer) => {
    // The answer to the call before is the same but for one line.
    const results = [json({ ...answer, at: 1 }), json({ ...answer, at: 2 })];
    for (const count of [1, 2]) {
      const last = sent('batch_create_orders', { day: 1 }, results.slice(0, count));
      expect(isShrunk(String(last.result))).toBe(true);
      expect([hasFailed(last), outcomeOf(last)]).toEqual([true, 'failed']);
      const [whole, left] = [results[count - 1], last.result].map((result) =>
        failedPartIn(fieldsOfResult(result), last.toolName),
      );
      expect(left).toBe(whole);
    }
  });

  it('leaves what ended a run where nothing but the note of shrinking stands behind it', () => {
    const listed = STEPS.map((step) => step.replace(/^step \d+/, 'drwxr-xr-x 2 root root')).sort();
    const end = 'rm: cannot remove /srv/cache: No such file or directory';
    const runs = ['one', 'two'].map((name) => [name, ...listed, end].join('\n'));
    const last = sent('run_shell_command', { command: 'sh clean.sh' }, runs);
    expect(String(last.result)).toMatch(/^two\n.*\n\[… \d+ lines as in .*\n(?:.*\n){1,2}\[Short/);
    expect(hasFailed(last)).toBe(true);
  });

  it.each([
    [
      'a log of which what failed is nowhere near the end',
      ['started', '3 failed, 20 passed'].map((line) =>
        [
          ...Array.from({ length: 10 }, () => STEPS).flat(),
          line,
          ...[...STEPS, ...STEPS].map((step, at) => `${at}: ${step}`),
          'Exit code: 0',
        ].join('\n'),
      ),
    ],
    [
      'data that is too long to be read',
      [
        JSON.stringify(
          { error: 'lost', items: Array.from({ length: 20 }, () => items).flat() },
          null,
          2,
        ),
      ],
    ],
  ])('shortens %s, whatever it tells then', (_, results) => {
    const last = sent('run_shell_command', { command: 'make | tee log' }, results);
    const whole = toolResponse('c', last.toolName, results.at(-1));
    expect([hasFailed(whole), hasFailed(last)]).toEqual([false, true]);
    expect(String(last.result).length).toBeLessThan(0.5 * String(whole.result).length);
  });

  it('reads of a table only rows that have all of its columns, so that a short text cannot ask for millions of fields', () => {
    const table = { columns: ['__proto__', 'id'], rows: [[1, 2], [], { id: 3 }] };
    const marked = `${JSON.stringify({ data: table })}\n[Shortened from 999 characters: lines]`;
    expect(JSON.stringify(fieldsOfResult(marked))).toBe(
      '{"data":[{"__proto__":1,"id":2},[],{"id":3}]}',
    );
  });
});
