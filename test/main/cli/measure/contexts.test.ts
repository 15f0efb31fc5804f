import { describe, expect, it } from 'vitest';
import { explainDensity } from '../../../../src/density.js';
import { humanText } from '../../../../src/index.js';
import { densityConfigOf } from '../../../../src/main/cli/measure/density-config.js';
import { contextAt, contextsOf, historyAround } from '../../../../src/main/cli/measure/contexts.js';
import {
  agentPreset,
  aiContent,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../../src/index.js';

const entries = ['a', 'b', 'c', 'd'].map((text) => humanText(text));

describe('contextsOf', () => {
  it('is one where the agent never compacted, and ends each at the next', () => {
    expect(contextsOf({ entries })).toEqual([{ start: 0, entries }]);
    const contexts = contextsOf({ entries, contextStarts: [1, 3] });
    expect(contexts.map((context) => [context.start, context.entries.length])).toEqual([
      [0, 1],
      [1, 2],
      [3, 1],
    ]);
    expect([0, 1, 2, 3].map((index) => contextAt(contexts, index).start)).toEqual([0, 1, 1, 3]);
  });
});

describe('historyAround', () => {
  it('explains an entry by its own context, and by its index in the session', () => {
    const access = (id: string, tool: string) => [
      aiContent([toolCall(id, tool, { file_path: '/w/a' })]),
      toolContent([toolResponse(id, tool, 'x')]),
    ];
    const session = {
      entries: [...access('1', 'Read'), ...access('2', 'Read'), ...access('3', 'Write')],
      contextStarts: [2],
    };
    const config = densityConfigOf(
      { preset: agentPreset('claude-code'), workspaceRoot: '/w' },
      { workspaceRoot: '/w' },
    );
    const verdictOf = (index: number) =>
      explainDensity(historyAround(session, index), config).explain(index).verdict;
    expect([verdictOf(0), verdictOf(2)]).toEqual(['kept', 'removed']);
  });
});
