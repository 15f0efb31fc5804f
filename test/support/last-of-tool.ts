// A pruning rule that the product does not have, for tests of everything derived from rules: keeps only the newest result of
// each tool. Add it to the list of rules and to the default configuration with `vi.mock`.

import { NONE } from '../../src/shared/density/index/history-columns.js';
import type { DensityRule } from '../../src/shared/density/rules/density-rule.js';
import type { RuleFinding } from '../../src/shared/density/rules/density-rules.js';
import { ACTION } from '../../src/shared/density/rules/marks.js';

/** Names outside the product's types. */
const NAMES = {
  name: 'last-of-tool',
  field: 'lastOfTool',
  counter: 'lastOfToolPruned',
} as const;

/** The setting that turns it on. */
export const LAST_OF_TOOL_ON = { [NAMES.field]: true };

/** Its key in the settings. */
export const LAST_OF_TOOL_KEY = `compression.density.${NAMES.field}`;

const { name, field, counter } = NAMES as unknown as {
  readonly name: RuleFinding['rule'];
  readonly field: 'recencyPruning';
  readonly counter: 'recencyPruned';
};

/** Removes every result but the newest of its tool. */
export const LAST_OF_TOOL: DensityRule<RuleFinding> = {
  name,
  item: 'outdated answer',
  counter,
  settings: [{ field, type: 'boolean', description: 'Keep the last result of each tool' }],
  reads: ['recency'],
  mark: ({ index: { responses }, marks, mark }) => {
    const newest = new Map<number, number>();
    for (let row = responses.length - 1; row >= 0; row -= 1) {
      const tool = responses.tool.at(row);
      if (!newest.has(tool)) newest.set(tool, row);
      else if (marks.responses[row] === 0) marks.responses[row] = mark(ACTION.pointer);
    }
    return {
      ofResponse: (row) => {
        const by = newest.get(responses.tool.at(row)) ?? NONE;
        const reason = by === row ? 'last' : 'asked-again';
        return { rule: name, reason, by } as unknown as RuleFinding;
      },
    };
  },
  say: ({ reason }) => `The tool has answered since: ${reason}.`,
};
