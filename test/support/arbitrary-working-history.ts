// Random histories for working sets: reads of files and lines, searches, commands that name files, repeated calls, results
// of all sizes. The rules are random as well; none is a default.

import fc from 'fast-check';

import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { PRUNED_POINTER } from '../../src/shared/density.js';
import type { DensityConfig } from '../../src/shared/density.js';
import type { WorkingSetRules } from '../../src/shared/density/rules/working-set-rules.js';
import { DEFAULT_TOOL_CATALOG } from '../../src/shared/tool-catalog.js';
import type { ToolCatalog } from '../../src/shared/tool-use.js';
import { arbitraryDensityConfig, arbitraryHistory } from './arbitrary-history.js';
import type { ArbitraryHistoryOptions } from './arbitrary-history.js';
import { listOf } from './arbitrary-tool-use.js';
import { pairNaively } from './naive-pairs.js';
import { NAIVE_COMMANDS } from './naive-use.js';

/** The tools of `arbitraryWorkingHistory`. */
export const WORKING_TOOLS: ToolCatalog = {
  ...DEFAULT_TOOL_CATALOG,
  view_lines: [
    {
      ...{ access: 'read', extent: 'whole', pathKeys: ['path'] },
      lineKeys: { first: 'offset', count: 'limit' },
    },
  ],
  view_range: [
    { access: 'read', extent: 'part', pathKeys: ['path'], lineKeys: { range: 'view_range' } },
  ],
  search_text: [{ access: 'search' }],
  run_shell_command: [{ access: 'run', commandKeys: ['command', 'cmd'] }],
  ask_user: [{ access: 'ask' }],
  load_skill: [{ access: 'instruct' }],
};

interface WorkingUse {
  readonly name: string;
  readonly parameters: unknown;
}

const file = fc.constantFrom('a.ts', './a.ts', 'src/b.ts', '/work/src/b.ts', 'c.ts');
const line = fc.constantFrom(1, 2, 5, 10, 11, 2_000, 2_001);

const linesUse = fc
  .record(
    { path: file, offset: line, limit: fc.constantFrom(1, 3, 10, 2_000, -1) },
    { requiredKeys: ['path'], noNullPrototype: true },
  )
  .map((parameters): WorkingUse => ({ name: 'view_lines', parameters }));

const rangeUse = fc
  .record(
    {
      path: file,
      view_range: fc.oneof<fc.Arbitrary<unknown>[]>(
        fc.tuple(line, line),
        fc.tuple(line, fc.constant(-1)),
        fc.constantFrom('[2, 10]', null, 'all', [3]),
      ),
    },
    { requiredKeys: ['path'], noNullPrototype: true },
  )
  .map((parameters): WorkingUse => ({ name: 'view_range', parameters }));

const wholeUse = fc
  .tuple(fc.constantFrom('read_file', 'read_line_range', 'write_file', 'replace'), file)
  .map(([name, path]): WorkingUse => ({ name, parameters: { path } }));

const commandUse = fc
  .constantFrom(...NAIVE_COMMANDS)
  .chain(({ command }) =>
    fc.constantFrom<unknown>({ command }, { command }, { cmd: command.split(' ') }, command),
  )
  .map((parameters): WorkingUse => ({ name: 'run_shell_command', parameters }));

const otherUse = fc.constantFrom<WorkingUse>(
  { name: 'search_text', parameters: { pattern: 'x' } },
  { name: 'search_text', parameters: { pattern: 'x', limit: 1 } },
  { name: 'search_text', parameters: { pattern: 'x', limit: null } },
  { name: 'search_text', parameters: { pattern: { any: ['x'], limit: 1 } } },
  { name: 'search_text', parameters: { pattern: { any: ['x'] }, limit: 1 } },
  { name: 'read_many_files', parameters: { paths: ['a.ts', 'src/b.ts'] } },
  { name: 'read_many_files', parameters: { paths: ['c.ts'] } },
  { name: 'ask_user', parameters: { question: 'Which?' } },
  { name: 'load_skill', parameters: { name: 'x' } },
  { name: 'read_file', parameters: {} },
  { name: 'run_shell_command', parameters: { shell: 'ls' } },
  { name: 'get_weather', parameters: { path: 'a.ts' } },
  { name: 'get_weather', parameters: null },
);

/** Outputs that are rarely repeated. */
const outputUse = fc
  .tuple(fc.boolean(), fc.nat(99))
  .map(([isSearch, number]): WorkingUse =>
    isSearch
      ? { name: 'search_text', parameters: { pattern: `x${number}` } }
      : { name: 'run_shell_command', parameters: { command: `make target${number}` } },
  );

/** Texts that an edit replaces or a write writes: long ones and a short one. */
const spendable = fc.constantFrom('a', 'old\n'.repeat(50), '"\\'.repeat(300), 'x'.repeat(159));
const editUse = fc.oneof(
  fc.tuple(file, spendable).map(([path, old_string]): WorkingUse => ({
    name: 'replace',
    parameters: { path, old_string, new_string: old_string },
  })),
  fc.tuple(file, fc.array(spendable, { maxLength: 3 })).map(([path, olds]): WorkingUse => ({
    name: 'replace',
    parameters: { path, edits: olds.map((old_string) => ({ old_string })) },
  })),
  fc
    .tuple(file, spendable)
    .map(([path, content]): WorkingUse => ({ name: 'write_file', parameters: { path, content } })),
  fc.tuple(file, fc.constantFrom(1, 40)).map(([path, times]): WorkingUse => ({
    name: 'replace',
    parameters: { path, patch: `*** Begin Patch\n@@\n${'-gone\n'.repeat(times)}+new\n` },
  })),
);

/** Generates uses of tools that a working set knows; some are frequent, so that calls repeat. */
const workingUse: fc.Arbitrary<WorkingUse> = fc.oneof(
  { weight: 4, arbitrary: linesUse },
  { weight: 2, arbitrary: rangeUse },
  { weight: 4, arbitrary: wholeUse },
  { weight: 5, arbitrary: commandUse },
  { weight: 4, arbitrary: otherUse },
  { weight: 4, arbitrary: outputUse },
  { weight: 4, arbitrary: editUse },
);

const OLD_OUTPUT = `${PRUNED_POINTER}\nIt named: src/a.ts readFile`;

/** The forms in which tools return a text: plain, mostly, or in JSON. */
const WRAPS: readonly ((text: string) => unknown)[] = [
  ...Array.from({ length: 8 }, () => (text: string) => text),
  (text) => JSON.stringify([{ query: 'a.ts', result: text, success: true }]),
  (text) => JSON.stringify({ output: text, exit_code: 1 }),
  (text) => ({ content: [{ type: 'text', text }] }),
  (stdout) => ({ stdout, stderr: '', exitCode: 0 }),
];

const workingResult: fc.Arbitrary<unknown> = fc.oneof<fc.WeightedArbitrary<unknown>[]>(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          ...[
            'line\n',
            'a longer line of output\r\n',
            'unbroken',
            '😀',
            '\n',
            'readFile ./src/b.ts:7\r\n',
          ],
          ...['TypeError: not_a_function at lib/run.js\n', 'x_1 FAILED\n', 'HTTPServer.listen '],
        ),
        fc.constantFrom(1, 30, 62, 150, 200, 300, 400, 600, 2_500),
        fc.constantFrom(...WRAPS),
      )
      .map(([text, times, wrap]) => wrap(text.repeat(times))),
  },
  { weight: 1, arbitrary: fc.constantFrom(PRUNED_POINTER, OLD_OUTPUT, '[search_text — success]') },
  {
    weight: 1,
    arbitrary: fc.nat(900).map((length) => ({ output: 'o'.repeat(length), exitCode: 0 })),
  },
);

/** Generates histories that mostly use `WORKING_TOOLS`, but are otherwise like `histories`. */
export function arbitraryWorkingHistory(
  histories: fc.Arbitrary<IContent[]> = arbitraryHistory(),
): fc.Arbitrary<IContent[]> {
  return fc
    .record({
      history: histories,
      uses: listOf(fc.option(workingUse, { freq: 9 }), 24, 1),
      results: listOf(fc.option(workingResult, { freq: 9 }), 24, 1),
    })
    .map(({ history, uses, results }) => withUses(history, uses, results));
}

/** Like `arbitraryWorkingHistory`, from options of the histories. */
export function arbitraryWorkingHistoryOf(
  options: ArbitraryHistoryOptions,
): fc.Arbitrary<IContent[]> {
  return arbitraryWorkingHistory(arbitraryHistory(options));
}

function withUses(
  history: readonly IContent[],
  uses: readonly (WorkingUse | null)[],
  results: readonly unknown[],
): IContent[] {
  const made = new Map<ContentBlock, ContentBlock>();
  pairNaively(history).forEach(({ call, responseEntry, responseBlock }, at) => {
    const use = uses[at % uses.length] ?? null;
    const named = use === null ? call : { ...call, ...use };
    made.set(call, named);
    const response = history[responseEntry]?.blocks[responseBlock];
    if (response?.type !== 'tool_response') return;
    const result = results[at % results.length] ?? response.result;
    made.set(response, { ...response, toolName: named.name, result });
  });
  return history.map((entry) => ({
    ...entry,
    blocks: entry.blocks.map((block) => made.get(block) ?? block),
  }));
}

const calls = fc.constantFrom(0, 1, 2, 3, 5, 8, Infinity);

/** Generates rules of all kinds: some remove nearly everything, some nothing, some only near the end. */
export function arbitraryWorkingSetRules(): fc.Arbitrary<WorkingSetRules> {
  return fc.record(
    {
      ...{ readCalls: calls, searchCalls: calls, outputCalls: calls, otherCalls: calls },
      earlyShare: fc.constantFrom(0, 0.25, 0.5, 1),
      paybackCalls: fc.constantFrom(0, 1, 5, 40, 200, Infinity),
      freeTokens: fc.constantFrom(0, 0, 0, 100, 1_000, Infinity),
    },
    { noNullPrototype: true },
  );
}

/** Generates configurations with a working set, which is the only phase in half of them. */
export function arbitraryWorkingConfig(): fc.Arbitrary<DensityConfig> {
  return fc
    .record({
      config: arbitraryDensityConfig(),
      workingSet: arbitraryWorkingSetRules(),
      isAlone: fc.boolean(),
    })
    .map(({ config, workingSet, isAlone }) => ({
      ...config,
      ...(isAlone && { readWritePruning: false, fileDedupe: false, recencyPruning: false }),
      toolCatalog: WORKING_TOOLS,
      workingSet,
    }));
}
