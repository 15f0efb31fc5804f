// A shortened result states how its call ended as the whole one does, whatever it refers to in earlier results.

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
import { outcomeOf } from '../../../../src/shared/outcome.js';
import { placeholderKind } from '../../../../src/shared/placeholder.js';
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

/** The last of several results of a tool, as it is first sent. */
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
  it('shows again what a run reports as failing', () => {
    const end = 'make: *** [Makefile:3: all] Error 2';
    const runs = [1, 2].map((time) => log([`at 10:0${time}`], [end]));
    const last = sent('run_shell_command', { command: 'make' }, runs);
    expect(isShrunk(String(last.result))).toBe(true);
    expect(String(last.result)).toContain(end);
  });

  it.each([
    ['states the outcome of completely repeated output', 'Exit Code: 1', 'error'],
    ['states the outcome of completely repeated output', 'Exit Code: 0', 'success'],
    ['claims no success that is not stated', 'a.ts(1,7): error TS2322', 'shown there'],
  ])('%s: %s', (_, end, outcome) => {
    const run = log([], [end]);
    const last = sent('run_shell_command', { command: 'npx tsc' }, [run, run]);
    expect(String(last.result)).toContain(
      `unchanged from the result of c0: npx tsc — ${outcome}, `,
    );
    expect(placeholderKind(last)).toBe('pointer');
  });

  it('keeps the exit code at the start of a repeated failure', () => {
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
    ['at the start', ['Directory: /srv/app', 'Exit Code: 3', 'Output:'], []],
    ['at the end', [], ['Error: (none)', 'Exit Code: 3', 'Signal: (none)']],
    ['about success', [], ['Error: (none)', 'Exit Code: 0', 'Signal: (none)']],
  ])('keeps the lines of a host %s, though the earlier result shows them', (_, start, end) => {
    const runs = ['one', 'two'].map((time) =>
      [...start, ...STEPS, time, ...STEPS, ...end].join('\n'),
    );
    const last = sent('run_shell_command', { command: 'make' }, runs);
    expect(isShrunk(String(last.result))).toBe(true);
    const whole = toolResponse('c', last.toolName, runs.at(-1));
    expect(outcomeOf(last)).toBe(outcomeOf(whole));
  });

  it.each([
    { success: false, message: 'The card was declined.' },
    { error: 'The card was declined.' },
    { exit_code: 1 },
    { ok: true },
  ])('keeps the fields in which data states the outcome of a call: %j', (answer) => {
    // The previous answer differs in one line only.
    const results = [json({ ...answer, at: 1 }), json({ ...answer, at: 2 })];
    for (const count of [1, 2]) {
      const last = sent('batch_create_orders', { day: 1 }, results.slice(0, count));
      expect(isShrunk(String(last.result))).toBe(true);
      const whole = toolResponse('c', last.toolName, results[count - 1]);
      expect(outcomeOf(last)).toBe(outcomeOf(whole));
    }
  });
});
