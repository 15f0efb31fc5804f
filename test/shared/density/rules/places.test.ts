// The same path or command means something else on another machine, in another repository or on another server.

import { describe, expect, it } from 'vitest';
import { agentPreset } from '../../../../src/main/formats/presets.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../../src/shared/content.js';
import type { IContent } from '../../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../../src/shared/density.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import { DEFAULT_WORKING_SET } from '../../../../src/shared/density/rules/working-set-rules.js';

type Call = readonly [tool: string, parameters: Readonly<Record<string, unknown>>];

/** How many results are gone or replaced after these calls, with edits that cost nothing. */
function editsAfter(...calls: readonly Call[]): number {
  const history = calls.flatMap(([tool, parameters], at): IContent[] => [
    aiContent([toolCall(`c${at}`, tool, parameters)]),
    toolContent([toolResponse(`c${at}`, tool, `line of ${at}\n`.repeat(80))]),
  ]);
  const { metadata } = optimize([...history, aiContent('Done.')], {
    ...DEFAULT_DENSITY_CONFIG,
    workspaceRoot: '/w',
    toolCatalog: agentPreset().toolCatalog,
    workingSet: { ...DEFAULT_WORKING_SET, freeTokens: 0, earlyShare: 1, paybackCalls: Infinity },
  });
  return metadata.readWritePairsPruned + (metadata.workingSetPruned ?? 0);
}

const conf = { path: '/etc/app.conf' };
const script = { command: 'df -h' };

describe('a place', () => {
  it.each<[string, Call, Call]>([
    ['a write', ['read_file', conf], ['write_file', { ...conf, content: 'x' }]],
    ['a read', ['read_file', conf], ['read_file', conf]],
    ['a command', ['run_command', script], ['run_command', script]],
    [
      'a command that shows a file',
      ['run_command', { command: 'cat /etc/app.conf' }],
      ['run_command', { command: 'cat /etc/app.conf' }],
    ],
  ])('keeps what %s somewhere else does not replace', (_, first, second) => {
    const on = ([tool, parameters]: Call, place: object): Call => [
      tool,
      { ...parameters, ...place },
    ];
    expect(editsAfter(first, second)).toBe(1);
    expect(editsAfter(on(first, { host: 'a' }), on(second, { host: 'a' }))).toBe(1);
    expect(editsAfter(on(first, { sandboxId: 1 }), on(second, { sandboxId: 2 }))).toBe(0);
    expect(editsAfter(on(first, { repo: 'a/b' }), on(second, { repo: 'a/c' }))).toBe(0);
    const [[tool, parameters], [other, others]] = [first, second];
    expect(editsAfter([`mcp__a__${tool}`, parameters], [`mcp__a__${other}`, others])).toBe(1);
    expect(editsAfter([`mcp__a__${tool}`, parameters], [`mcp__b__${other}`, others])).toBe(0);
  });

  it('is not what a parameter says about anything else', () => {
    const second = { ...script, timeout: 5, description: 'Shows the space', sandbox_mode: 'x' };
    expect(editsAfter(['run_command', script], ['run_command', second])).toBe(1);
  });

  it('does not tell what the output of a command is', () => {
    const lines = Array.from({ length: 400 }, (_, at) => `${'abcdefghij'.slice(at % 10)} ${at}`);
    const shrunkIn = (parameters: object): number => {
      const called = aiContent([toolCall('c0', 'run_command', parameters)]);
      const answered = toolContent([toolResponse('c0', 'run_command', lines.join('\n'))]);
      const { metadata } = optimize([called, answered], {
        ...DEFAULT_DENSITY_CONFIG,
        workspaceRoot: '/w',
        toolCatalog: agentPreset().toolCatalog,
        workingSet: DEFAULT_WORKING_SET,
        shrink: { level: 'default', likeLines: false },
      });
      return metadata.resultsShrunk ?? 0;
    };
    expect(shrunkIn({ command: 'bazel build' })).toBe(1);
    expect(shrunkIn({ command: 'list-notes', repo: 'google/bazel' })).toBe(0);
    expect(shrunkIn({ command: 'list-notes', cwd: '/src/bazel' })).toBe(0);
  });

  it('keeps the output of a command with other arguments', () => {
    const git = (...args: readonly string[]): Call => ['run_command', { command: 'git', args }];
    expect(editsAfter(git('log'), git('log'))).toBe(1);
    expect(editsAfter(git('log'), git('diff'))).toBe(0);
  });
});
