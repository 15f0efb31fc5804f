// The readable explanation of an entry.

import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  AGGRESSIVE_WORKING_SET,
  DEFAULT_DENSITY_CONFIG,
  explainDensity,
} from '../../../src/density.js';
import {
  aiContent,
  humanText,
  readsFile,
  runsCommands,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/index.js';
import type { DensityConfig } from '../../../src/density.js';
import type { IContent } from '../../../src/index.js';
import { renderExplanation } from '../../../src/cli/analyze/render-explanation.js';
import { layoutOf } from '../../../src/cli/terminal/terminal-layout.js';

const PLAIN = layoutOf(80, false);

const CONFIG: DensityConfig = {
  ...DEFAULT_DENSITY_CONFIG,
  workspaceRoot: '/w',
  toolCatalog: { Bash: runsCommands(), Read: readsFile('whole', ['path']) },
};

const RULES = {
  ...AGGRESSIVE_WORKING_SET,
  ...{ outputCalls: 0, paybackCalls: Infinity, freeTokens: 0 },
};

function render(
  entries: readonly IContent[],
  index: number,
  config: Partial<DensityConfig> = {},
  options = PLAIN,
): string {
  const { explain } = explainDensity(entries, { ...CONFIG, ...config });
  const explanation = explain(index);
  const about = { file: 's.jsonl', format: 'claude-code', entries: entries.length } as const;
  const landed =
    explanation.verdict === 'kept' ? null : ({ modelCall: 2, step: 'pruned' } as const);
  return renderExplanation({ reportVersion: 1, ...about, explanation, landed }, options);
}

const RUN = [
  humanText('run it'),
  aiContent([toolCall('b1', 'Bash', { command: 'npm test' })]),
  toolContent([toolResponse('b1', 'Bash', 'one line of output\n'.repeat(100))]),
  aiContent('done'),
];

describe('renderExplanation', () => {
  test('says what happens to each block, by which rule and why', () => {
    expect(render(RUN, 2, { workingSet: RULES })).toBe(
      [
        'ctxfold analyze s.jsonl',
        'claude-code · entry 2 of 4, counted from 0 · tool',
        'stays in part before model call 2',
        '',
        'block 0, tool response: becomes an excerpt',
        '  Bash · b1',
        '  It has left the working set: sent once, kept for 0 model calls. An excerpt',
        '  replaces it.',
        '  working-set: expired · sent 1 time, kept for 0 · about 475 tokens',
        '',
      ].join('\n'),
    );
  });

  test('says that a block without an applicable rule stays', () => {
    const text = render(RUN, 0);
    expect(text).toContain(
      'human · stays as it is\n\nblock 0, text: stays\n  No rule removes it.\n',
    );
    expect(text).not.toContain('no-rule');
    expect(render([aiContent([])], 0)).toContain('The entry is empty.');
  });

  test('fits its width, and contains no control characters', () => {
    const path = `/w/${'long/'.repeat(40)}\u001b[31mred.ts`;
    const text = render([aiContent([toolCall('r\u001b1', 'Read', { path })])], 0);
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(text).not.toContain('\u001b');
  });

  test('says the same with colours and without', () => {
    const coloured = render(RUN, 2, { workingSet: RULES }, layoutOf(80, true));
    expect(coloured).not.toBe(render(RUN, 2, { workingSet: RULES }));
    expect(stripVTControlCharacters(coloured)).toBe(render(RUN, 2, { workingSet: RULES }));
  });
});
