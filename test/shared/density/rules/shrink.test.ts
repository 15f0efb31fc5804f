// Which results a pass shrinks before they are sent, and which it keeps; a worker finds the same.

import { describe, expect, it } from 'vitest';

import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../../src/shared/content.js';
import type { IContent, ToolResponseBlock } from '../../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG, isEmptyDensityResult } from '../../../../src/shared/density.js';
import type { DensityConfig } from '../../../../src/shared/density.js';
import { explainDensity } from '../../../../src/shared/density/explain/explain-density.js';
import { materializeDensityPlan } from '../../../../src/shared/density/plan/materialize.js';
import { optimize } from '../../../../src/shared/density/plan/optimize.js';
import {
  DEFAULT_WORKING_SET,
  withColdCache,
} from '../../../../src/shared/density/rules/working-set-rules.js';
import { placeholderKind } from '../../../../src/shared/placeholder.js';
import { isShrunk, sourceIdsOf } from '../../../../src/shared/shrink/shown-before.js';
import { DeltaQueue } from '../../../../src/main/offload/delta-queue.js';
import { readDeltaReply } from '../../../../src/main/offload/reply.js';
import { ResidentHistory } from '../../../../src/worker/resident-history.js';
import { applied } from '../../../support/applied.js';
import { WORKING_TOOLS } from '../../../support/arbitrary-working-history.js';

const CONFIG: DensityConfig = {
  ...DEFAULT_DENSITY_CONFIG,
  ...{ workspaceRoot: '/w', toolCatalog: WORKING_TOOLS },
  ...{ shrink: 'default', placeholder: 'recallable' },
};

/** Lines of a text, all different. */
function lines(from: number, to: number, word = 'line'): string {
  return Array.from(
    { length: to - from },
    (_, at) => `${word} ${'abcdefghij'.charAt((from + at) % 10).repeat(20)} ${from + at}`,
  ).join('\n');
}

const NOISE = 'the same line of noise, again and again\n'.repeat(60);

let made = 0;

/** A call with its result. */
function asked(
  name: string,
  parameters: object,
  result: unknown,
  id = `c${(made += 1)}`,
): IContent[] {
  return [
    aiContent([toolCall(id, name, parameters)]),
    toolContent([toolResponse(id, name, result)]),
  ];
}

const run = (result: string, id?: string): IContent[] =>
  asked('run_shell_command', { command: 'node run.js' }, result, id);
const read = (result: string, id?: string): IContent[] =>
  asked('read_file', { path: 'a.ts' }, result, id);

/** The last result after a pass. */
function lastResult(history: readonly IContent[], config: DensityConfig = CONFIG): unknown {
  const block = applied(history, optimize(history, config)).at(-1)?.blocks.at(-1);
  return block?.type === 'tool_response' ? block.result : undefined;
}

function responseAt(history: readonly IContent[], entry: number): ToolResponseBlock {
  const [block] = history[entry]?.blocks ?? [];
  if (block?.type !== 'tool_response') throw new Error('There is no result.');
  return block;
}

/** As Cline wraps results. */
const wrapped = (result: string): string =>
  JSON.stringify([{ query: 'a.ts', result, success: true }]);

/** Whether a result still shows its lines. */
const isStanding = (result: unknown): boolean => String(result).split('\n').length > 20;

describe('SHRINK', () => {
  it('finds lines that were shown before in JSON results, too', () => {
    const before = read(wrapped(lines(0, 40)), 'first');
    const mostly = `{"output":"\n${lines(30, 32, 'new')}\n[… 30 lines as in read_file a.ts …]\n"}`;
    const result = JSON.stringify({ output: `${lines(30, 32, 'new')}\n${lines(0, 30)}` });
    expect(lastResult([humanText('go'), ...before, ...run(result)])).toBe(
      `${mostly}\n[Shortened from ${result.length} characters: texts in JSON on lines of their own, lines of earlier results (first); ` +
        `recall("c${made}") for the original]`,
    );
    expect(lastResult([humanText('go'), ...before, ...run(lines(5, 40))])).toMatch(
      /^\[run_shell_command: unchanged from the result of first, read_file a\.ts: /,
    );
    expect(lastResult([humanText('go'), ...before, ...read(wrapped(lines(0, 40)))])).toMatch(
      /^\[read_file: unchanged from the result of first: a.ts — shown there/,
    );
  });

  it('shrinks the same if it is the only rule, and nothing that was recalled', () => {
    const alone = { ...CONFIG, readWritePruning: false, fileDedupe: false };
    const history = [humanText('go'), ...run(`${NOISE}end`)];
    expect(lastResult(history)).toMatch(/^the same line of noise.*\n\[… the same line 59 more/);
    expect(lastResult(history, alone)).toBe(lastResult(history));
    for (const tool of ['recall', 'mcp__ctxfold__recall']) {
      expect(lastResult([humanText('go'), ...asked(tool, {}, NOISE)])).toBe(NOISE);
    }
  });

  it('leaves a result to a rule that removes it, and its text to the plan', () => {
    const [first, second] = [run(NOISE), run(NOISE)];
    const history = [humanText('go'), ...first, ...second];
    const parallel = [
      humanText('go'),
      aiContent([first, second].flatMap(([call]) => call?.blocks ?? [])),
      toolContent([responseAt(history, 2), responseAt(history, 4)]),
    ];
    const recent = { ...CONFIG, recencyPruning: true, recencyRetention: 1 };
    const { rows = new Int32Array(), ...result } = optimize(parallel, recent);
    const [older, newer] = applied(parallel, result)[2]?.blocks ?? [];
    expect(placeholderKind(older as ToolResponseBlock)).not.toBe('none');
    expect(isShrunk(String((newer as ToolResponseBlock).result))).toBe(true);
    expect(() => materializeDensityPlan(rows, parallel, recent)).toThrow(RangeError);
  });

  it('writes data as tables if a tool returns an object, but not in a JSON file', () => {
    const rows = Array.from({ length: 40 }, (_, at) => ({ orderNumber: at, isPaid: at % 7 === 0 }));
    const data = { customer: 'cus_1', rows };
    expect(lastResult([humanText('go'), ...asked('get_weather', {}, data)])).toMatch(
      /^\{"customer":"cus_1","rows":\{"columns":\["orderNumber","isPaid"\],"rows":\[\n\[0,true\],/,
    );
    for (const [path, result] of [
      ['a/package.json', data],
      ['a', { ...data, error: 'cut short' }],
    ] as const) {
      expect(lastResult([humanText('go'), ...asked('get_weather', { path }, result)])).toBe(result);
    }
  });

  it.each([
    ['read_file', { path: 'a/package.json' }],
    ['run_shell_command', { command: 'cat notes.ipynb' }],
  ])(
    'keeps the JSON of a file as %s shows it, because an edit has to quote it',
    (name, parameters) => {
      const json = JSON.stringify({ script: NOISE });
      expect(lastResult([humanText('go'), ...asked(name, parameters, json)])).toBe(json);
    },
  );

  it('shrinks a result that was not sent to the model yet, and no other one', () => {
    const history = [humanText('go'), ...run(NOISE), ...run(NOISE)];
    const after = applied(
      history,
      optimize(history, { ...CONFIG, shrink: { shownBefore: false } }),
    );
    expect(after[2]).toBe(history[2]);
    expect(isShrunk(String(responseAt(after, 4).result))).toBe(true);
    expect(optimize(history, CONFIG).metadata.resultsShrunk).toBe(1);
    const answered = [...history, aiContent([{ type: 'text', text: 'done' }])];
    expect(isEmptyDensityResult(optimize(answered, CONFIG))).toBe(true);
  });

  it('finds nothing to shrink in its own output', () => {
    const history = [humanText('go'), ...read(lines(0, 60)), ...read(lines(0, 60)), ...run(NOISE)];
    const after = applied(history, optimize(history, CONFIG));
    expect(after).not.toEqual(history);
    expect(isEmptyDensityResult(optimize(after, CONFIG))).toBe(true);
  });

  it.each([
    ['a file', read(NOISE)],
    [
      'a failure',
      [
        aiContent([toolCall('f', 'run_shell_command', {})]),
        toolContent([{ ...toolResponse('f', 'run_shell_command', NOISE), error: 'failed' }]),
      ],
    ],
    ['a recalled result', asked('mcp__ctxfold__recall', { id: 'c1' }, NOISE)],
    ['what an unknown tool returns of a file', asked('peek', { file: 'a.ts' }, NOISE)],
    [
      'a result without a call',
      [toolContent([toolResponse('nobody', 'run_shell_command', NOISE)])],
    ],
    ['a small result', run('the same\n'.repeat(40))],
    [
      'a result with an image, which the model has not seen yet',
      [
        aiContent([toolCall('i', 'browse', {})]),
        toolContent([{ ...toolResponse('i', 'browse', NOISE), mediaTokens: 1_600 }]),
      ],
    ],
  ])('keeps %s', (_, history) => {
    expect(isEmptyDensityResult(optimize([humanText('go'), ...history], CONFIG))).toBe(true);
  });

  it('says in one line where an unchanged text was shown', () => {
    const text = lines(0, 60);
    const history = [humanText('go'), ...read(text, 'first'), ...read(text, 'again')];
    const after = applied(history, optimize(history, CONFIG));
    expect(responseAt(after, 4).result).toBe(
      '[read_file: unchanged from the result of first: a.ts — shown there, 60 lines; recall("again") for the original]',
    );
    expect(placeholderKind(responseAt(after, 4))).toBe('pointer');
  });

  it('does the same for texts of one or two lines, which JSON often has, if they are completely the same', () => {
    const state = (at: number): string =>
      JSON.stringify({ state: 'waiting', at, log: lines(0, 20).replaceAll('\n', ' ') });
    const polled = (result: string, id?: string): IContent[] =>
      asked('job_state', { job: 'j-1' }, result, id);
    for (const [first, other] of [
      [state(1), state(2)],
      [`${state(1)}\n${state(2)}`, `${state(1)}\n${state(3)}`],
    ] as const) {
      const before = [humanText('go'), ...polled(first, 'first'), ...polled(other)];
      expect(lastResult([...before, ...polled(first)])).toMatch(
        /^\[job_state: unchanged from the result of first, job_state j-1 \(the 2nd back\): /,
      );
      expect(lastResult(before)).toBe(other);
    }
  });

  it.each([
    ['with a table', { job: 'j-1', steps: [1, 2, 3, 4].map((at) => ({ at, state: 'done' })) }],
    ['in one line', { job: 'j-1', places: Array.from({ length: 60 }, (_, at) => at) }],
  ])('does the same for JSON %s, which the session shows with less white space', (_, fields) => {
    const polled = (state: string, id?: string): IContent[] => {
      const said = JSON.stringify({ ...fields, state, at: 'y'.repeat(200) }, null, 4);
      return asked('job_state', { job: 'j-1' }, said, id);
    };
    const history = [humanText('go'), ...polled('waits', 'first')];
    const known = applied(history, optimize(history, CONFIG));
    expect(isShrunk(String(responseAt(known, 2).result))).toBe(true);
    expect(lastResult([...known, ...polled('waits')])).toMatch(
      /^\[job_state: unchanged from the result of first: j-1 — shown there, \d+ lines/,
    );
    expect(lastResult([...known, ...polled('done')])).toMatch(/^\{"job":"j-1",/);
    const ofFile = asked('read_file', { path: 'a.ts' }, responseAt(history, 2).result);
    expect(lastResult([...known, ...ofFile])).toBe(responseAt(history, 2).result);
  });

  it('shows of a polled JSON list what has changed since', () => {
    const polled = (restarts: number, id?: string): IContent[] => {
      const pods = Array.from({ length: 20 }, (_, at) => ({
        name: `api-${at}`,
        image: 'registry.example.com/api:1.5.0',
        restarts: at === 7 ? restarts : 0,
      }));
      return asked(
        'list_pods',
        { namespace: 'prod' },
        JSON.stringify({ restarts, pods }, null, 2),
        id,
      );
    };
    const history = [humanText('go'), ...polled(0, 'first')];
    const known = applied(history, optimize(history, CONFIG));
    expect(String(lastResult([...known, ...polled(3)])).split('\n')).toEqual([
      '{"restarts":3,"pods":{"columns":["name","image","restarts"],"rows":[',
      '[… 7 lines as in list_pods prod …]',
      '["api-7","registry.example.com/api:1.5.0",3],',
      '[… 12 lines as in list_pods prod …]',
      expect.stringMatching(
        /^\[Shortened from \d+ characters: white space .* of earlier results \(first\)/,
      ),
    ]);
    const whole = { ...CONFIG, shrink: { level: 'default', jsonTables: false } } as const;
    const again = polled(3);
    expect(lastResult([...known, ...again], whole)).toBe(responseAt(again, 1).result);
  });

  it('keeps the lines of a file that the session does not show, in order', () => {
    const changed = `${lines(12, 30)}\n${lines(0, 5, 'changed')}\n${lines(30, 48)}`;
    const result = lastResult([
      humanText('go'),
      ...read(lines(0, 60), 'first'),
      ...read(changed, 'again'),
    ]);
    expect(String(result).split('\n')).toEqual([
      '[… 18 lines as in read_file a.ts …]',
      ...lines(0, 5, 'changed').split('\n'),
      '[… 18 lines as in read_file a.ts …]',
      `[Shortened from ${changed.length} characters: lines of earlier results (first); recall("again") for the original]`,
    ]);
  });

  it('keeps lines without numbers that stand elsewhere in the earlier result', () => {
    const commits = Array.from({ length: 8 }, (_, at) =>
      [
        `commit ${at}${'c0ffee'.repeat(6)}`,
        'Author: Ada Lovelace <ada@example.com>',
        '',
        `    Make the change that has number ${at}, ${'as it was asked for '.repeat(9)}`,
        '',
      ].join('\n'),
    );
    const shown = `${commits[5] ?? ''}\n src/a.ts | 5 +++--\n 1 file changed\n${lines(0, 30)}`;
    const log = asked('run_shell_command', { command: 'git log' }, commits.join('\n'), 'first');
    expect(lastResult([humanText('go'), ...log, ...run(shown)])).toBe(shown);
  });

  it('does not say that lines with their own numbers, such as matches or times, stand elsewhere without them', () => {
    const matches = lines(0, 60)
      .split('\n')
      .map((line, at) => `${at * 3 + 1}:${line}`);
    const part = `${matches.slice(0, 12).join('\n')}\n${lines(60, 62)}`;
    const result = lastResult([humanText('go'), ...run(matches.join('\n'), 'first'), ...run(part)]);
    expect(String(result).split('\n', 1)).toEqual([
      expect.stringMatching(/^\[… 12 lines as in [^,]* …\]$/),
    ]);
  });

  it('removes the spaces before line numbers of a file, and recognizes these lines again', () => {
    const text = lines(0, 60)
      .split('\n')
      .map((line, at) => `${String(at + 1).padStart(6)}→${line}`)
      .join('\n');
    const first = [humanText('go'), ...read(text, 'first')];
    const sent = applied(first, optimize(first, CONFIG));
    const shown = String(lastResult(first)).split('\n');
    expect(shown.slice(0, -1)).toEqual(text.split('\n').map((line) => line.trimStart()));
    const part = text.split('\n').slice(6, 51).join('\n');
    const again = lastResult([...sent, aiContent([toolCall('x', 'ls', {})]), ...read(part, 'b')]);
    expect(again).toMatch(/^\[read_file: unchanged from the result of first/);
  });

  it('says where lines were shown under other numbers', () => {
    const numbered = (text: string, from: number): string =>
      text
        .split('\n')
        .map((line, at) => `${from + at}\t${line}`)
        .join('\n');
    const text = lines(0, 60);
    const grown = `${lines(0, 2, 'added')}\n${lines(10, 60)}`;
    const whole = [humanText('go'), ...read(numbered(text, 1), 'first')];
    expect(String(lastResult([...whole, ...read(numbered(grown, 11), 'b')])).split('\n')).toEqual([
      ...numbered(lines(0, 2, 'added'), 11).split('\n'),
      '[… lines 13-62 as in read_file a.ts, there lines 11-60 …]',
      expect.stringContaining('lines of earlier results'),
    ]);
    const bare = [humanText('go'), ...read(text, 'first')];
    expect(lastResult([...bare, ...read(numbered(text, 1), 'b')])).toContain(
      '[… lines 1-60 as in read_file a.ts, there without numbers …]',
    );
    expect(lastResult([...whole, ...read(text, 'b')])).toContain(
      '[… 60 lines as in read_file a.ts, there lines 1-60 …]',
    );
  });

  it('omits what the call of a result has, except for what the call may lose', () => {
    const [replaced, written] = [lines(0, 20, 'old'), lines(0, 20, 'new')];
    const edit = { path: 'b.ts', old_string: replaced, new_string: written };
    const said = (result: string): unknown =>
      lastResult([humanText('go'), ...asked('replace', edit, result)]);
    expect(said(`Edited.\n${written}\nThat is all.`)).toMatch(
      /^Edited\.\n\[… 20 lines unchanged, as its call has them …\]\nThat is all\.\n\[Shortened/,
    );
    expect(said(`Edited.\n${replaced}\nThat is all.`)).toContain(replaced);
    expect(said(written)).toMatch(/^\[… 20 lines unchanged, as its call has them …\]\n\[Shortened/);
    const both = [
      ...[humanText('go'), ...read(`${lines(0, 20)}\n${lines(16, 26, 'new')}`, 'first')],
      ...asked('replace', edit, `${lines(10, 20)}\n${lines(0, 26, 'new')}`),
    ];
    expect(String(lastResult(both)).split('\n').slice(0, -1)).toEqual([
      '[… 10 lines as in read_file a.ts …]',
      '[… 16 lines unchanged, as its call has them …]',
      '[… 10 lines as in read_file a.ts …]',
    ]);
  });

  it('refers to calls by what every model sees of them, and lists their ids at the end', () => {
    const path = `/home/ada/work/${'folder/'.repeat(9)}main.ts`;
    const known = [
      ...asked('read_file', { path }, lines(0, 20), 'first'),
      ...asked('run_shell_command', { command: 'cat b.ts' }, lines(40, 60), 'second'),
      ...asked('look', {}, lines(80, 100), 'third'),
    ];
    const all = [lines(0, 20), lines(40, 60), lines(80, 100), lines(200, 230, 'new')].join('\n');
    const again = String(lastResult([humanText('go'), ...known, ...run(all)])).split('\n');
    expect(again.slice(0, 3)).toEqual([
      '[… 20 lines as in read_file …der/folder/folder/folder/folder/main.ts …]',
      '[… 20 lines as in run_shell_command cat b.ts …]',
      '[… 20 lines as in look …]',
    ]);
    expect(again.at(-1)).toContain('lines of earlier results (first, second, third)');
    expect(sourceIdsOf(again.join('\n'))).toBe('first second third');
  });

  it('says which of several calls with the same name it means, unless it is the last one', () => {
    const snapshots = [0, 1, 2].map((at) =>
      asked('snapshot', {}, lines(20 * at, 20 * at + 20), `s${at}`),
    );
    const others = asked('look', {}, lines(200, 230, 'other'));
    const all = [lines(0, 20), lines(20, 40), lines(40, 60), lines(200, 230, 'new')].join('\n');
    const known = [humanText('go'), ...snapshots.flat(), ...others];
    const again = String(lastResult([...known, ...asked('snapshot', {}, all)]));
    expect(again.split('\n').slice(0, 3)).toEqual([
      '[… 20 lines as in snapshot (the 3rd back) …]',
      '[… 20 lines as in snapshot (the 2nd back) …]',
      '[… 20 lines as in snapshot …]',
    ]);
    const many = Array.from({ length: 21 }, (_, at) => asked('snapshot', {}, `page ${at}`));
    const far = String(lastResult([...known, ...many.flat(), ...asked('snapshot', {}, all)]));
    expect(far.split('\n').slice(0, 3)).toEqual([
      '[… 20 lines as in snapshot (the 24th back) …]',
      '[… 20 lines as in snapshot (the 23rd back) …]',
      '[… 20 lines as in snapshot (the 22nd back) …]',
    ]);
    const tooMany = Array.from({ length: 10 }, () => many).flat(2);
    const unplaced = String(lastResult([...known, ...tooMany, ...asked('snapshot', {}, all)]));
    expect(unplaced.split('\n')[0]).toBe('[… 20 lines as in snapshot …]');
    const same = lastResult([...known, ...many.slice(0, 10).flat(), ...run(lines(0, 20))]);
    expect(same).toContain('unchanged from the result of s0, snapshot (the 13th back): ');
  });

  it('refers to eight results at most, and to none for a few lines', () => {
    const known = Array.from({ length: 12 }, (_, at) =>
      asked('look', { at: `n${at}` }, lines(20 * at, 20 * at + 20), `k${at}`),
    );
    const whole = known.map((_, at) => lines(20 * at, 20 * at + 20)).join('\nand then\n');
    const again = String(lastResult([humanText('go'), ...known.flat(), ...run(whole)]));
    expect(sourceIdsOf(again).split(' ')).toHaveLength(8);
    expect(isShrunk(again)).toBe(true);
    const path = `/home/ada/work/${'folder/'.repeat(9)}main.ts`;
    const tool = 'read_a_file_of_the_repository_of_the_project';
    const long = [humanText('go'), ...asked(tool, { path }, lines(0, 100), 'r')];
    const parts = (count: number): string =>
      [0, 10, 20, 30, 40, 50, 60, 70]
        .flatMap((at) => [lines(at, at + count), lines(at, at + 2, 'new')])
        .join('\n');
    expect(lastResult([...long, ...run(parts(5))])).toBe(parts(5));
    expect(lastResult([...long, ...run(parts(9))])).toContain('[… 9 lines as in');
  });

  it('refers to nothing that is or was removed', () => {
    const text = lines(0, 60);
    const first = read(text, 'first');
    const gone = { ...responseAt(first, 1), result: '[read_file: a.ts — success, 60 lines]' };
    const second = [first[0] ?? humanText(''), toolContent([gone]), ...read(text)];
    expect(lastResult(second)).toBe(text);
    const written = [...first, ...asked('write_file', { path: 'a.ts' }, 'ok'), ...read(text)];
    expect(lastResult([humanText('go'), ...written])).toBe(text);
    expect(lastResult([...first, ...read(text)], { ...CONFIG, recencyPruning: true })).toBe(text);
  });

  it('refers to no result by an ambiguous id', () => {
    const text = lines(0, 60);
    const numbered = (result: string): IContent[] => read(result, 'call_0');
    expect(lastResult([...numbered(text), ...numbered(text)])).toBe(text);
    const others = [...numbered(text), ...numbered(lines(100, 160))];
    expect(lastResult([...others, ...read(text, 'call_1')])).toBe(text);
    expect(lastResult([...numbered(text), ...read(text, 'call_1')])).not.toBe(text);
  });

  it('keeps a result that a new one refers to', () => {
    const workingSet = withColdCache({ ...DEFAULT_WORKING_SET, readCalls: 2, freeTokens: 0 });
    const text = lines(0, 60);
    const late = Array.from({ length: 4 }, () => run('short')).flat();
    const history = [humanText('go'), ...read(text, 'first'), ...late];
    const again = [...history, ...read(text, 'again')];
    const referring = applied(again, optimize(again, CONFIG));
    const keptBy = (entries: readonly IContent[]): boolean =>
      optimize([...entries, ...late], { ...CONFIG, workingSet }).replacements.has(2);
    expect(keptBy(history)).toBe(true);
    expect(keptBy(referring)).toBe(false);
    const { explain } = explainDensity([...referring, ...late], { ...CONFIG, workingSet });
    expect(explain(2).blocks[0]?.text).toBe(
      'A later result was shrunk and refers to it: sent 9 times, kept for 2 model calls otherwise.',
    );
  });

  it('keeps a result as long as one that refers to it stays', () => {
    const rules = { ...DEFAULT_WORKING_SET, readCalls: 40, earlyShare: 1, freeTokens: 0 };
    const workingSet = withColdCache(rules);
    const config = { ...CONFIG, workingSet };
    const printed = run(lines(0, 60), 'printed');
    const twice = `${lines(0, 60)}\n${lines(0, 30, 'more')}`;
    const play = (times: number): readonly unknown[] => {
      let history: IContent[] = [humanText('go'), ...printed];
      for (const added of [
        read(twice, 'again'),
        ...Array.from({ length: times }, () => run('x')),
      ]) {
        history = applied([...history, ...added], optimize([...history, ...added], config));
      }
      return [2, 4].map((entry) => isStanding(responseAt(history, entry).result));
    };
    expect(play(38)).toEqual([true, true]);
    expect(play(42)).toEqual([false, false]);
  });

  it('keeps a read that was written later, if the read of another file refers to it', () => {
    const other = asked('read_file', { path: 'b.ts' }, `${lines(0, 60)}\nand more`, 'other');
    const before = [humanText('go'), ...read(lines(0, 60), 'first'), ...other];
    const sent = applied(before, optimize(before, CONFIG));
    expect(responseAt(sent, 4).result).toContain('as in read_file a.ts');
    const written = asked('write_file', { path: 'a.ts', content: 'new' }, 'ok');
    const after = [...sent, ...written, ...run('x')];
    expect(applied(after, optimize(after, CONFIG))).toEqual(after);
    const gone = sent.filter((_, entry) => entry !== 3 && entry !== 4);
    expect(optimize([...gone, ...written], CONFIG).removals).toEqual([1, 2]);
  });

  it('keeps what a result refers to that is kept because another one refers to it', () => {
    const readAt = (path: string, result: string, id: string): IContent[] =>
      asked('read_file', { path }, result, id);
    const [second, third] = [
      readAt('b.ts', `${lines(0, 60)}\n${lines(60, 120)}`, 'second'),
      readAt('c.ts', `${lines(60, 120)}\nand more`, 'third'),
    ];
    let sent: IContent[] = [humanText('go')];
    for (const added of [read(lines(0, 60), 'first'), second, third]) {
      sent = applied([...sent, ...added], optimize([...sent, ...added], CONFIG));
    }
    expect(responseAt(sent, 4).result).toContain('as in read_file a.ts');
    expect(responseAt(sent, 6).result).toContain('as in read_file b.ts');
    const after = [
      ...sent,
      ...asked('write_file', { path: 'a.ts', content: 'new' }, 'ok'),
      ...asked('write_file', { path: 'b.ts', content: 'new' }, 'ok'),
    ];
    expect(applied(after, optimize(after, CONFIG))).toEqual(after);
  });

  it('keeps calls that references count, without their results', () => {
    const [first, second] = [read(lines(0, 60), 'first'), read(lines(60, 120), 'second')];
    const other = asked('read_file', { path: 'b.ts' }, `${lines(0, 60)}\nand more`, 'other');
    const before = [humanText('go'), ...first, ...second, ...other];
    const sent = applied(before, optimize(before, CONFIG));
    expect(responseAt(sent, 6).result).toContain('as in read_file a.ts (the 2nd back)');
    const written = asked('write_file', { path: 'a.ts', content: 'new' }, 'ok');
    const after = applied([...sent, ...written], optimize([...sent, ...written], CONFIG));
    expect(after.filter((entry, at) => entry !== [...sent, ...written][at])).toHaveLength(1);
    expect(placeholderKind(responseAt(after, 4))).toBe('pointer');
    expect(applied(after, optimize(after, CONFIG))).toEqual(after);
  });

  it('reports what it does, and why', () => {
    const { explain } = explainDensity([humanText('go'), ...run(NOISE)], CONFIG);
    expect(explain(2).blocks).toMatchObject([
      { rule: 'shrink', reason: 'shrunk', verdict: 'shrunk' },
    ]);
  });

  it('refuses unknown levels and switches', () => {
    for (const shrink of ['much', { level: 'off' }, { terminals: true }, { blobs: 1 }, 3, null]) {
      const config = { ...CONFIG, shrink } as unknown as DensityConfig;
      expect(() => optimize([], config)).toThrow(/shrink: /);
    }
  });

  it('has the same result in a worker, with the texts and their tokens', () => {
    const history = [humanText('go'), ...read(lines(0, 60)), ...read(lines(0, 60)), ...run(NOISE)];
    const base = { revision: 0, length: history.length };
    const state = { base, entries: history, countedTokens: () => undefined };
    const agent = { workspaceRoot: '/w', toolCatalog: WORKING_TOOLS };
    const resident = new ResidentHistory({ agent, countsTokens: true }, ({ length }) => length);
    const delta = { ...new DeltaQueue(state, history.length).take()!.delta, pass: CONFIG };
    const reply = readDeltaReply(delta, true, {
      ok: true,
      value: resident.receive(delta),
      runMs: 1,
    });
    const result = optimize(history, CONFIG);
    const text = responseAt([...result.replacements.values()], 0).result;
    expect(reply.value.pass?.plan).toEqual(result.rows);
    expect(reply.value.pass?.texts).toEqual([text]);
    const entryTokens = reply.value.tokens.at(-1) ?? 0;
    expect(reply.value.pass?.tokensAfter.at(-2)).toBe(
      entryTokens - NOISE.length + String(text).length,
    );
  });

  it.each([40, 41, 42])('does not shrink an equal output again, with %i lines', (length) => {
    const left = lastResult(run(`${lines(0, length)}\n${NOISE}`, 'a'));
    expect(isShrunk(String(left))).toBe(true);
    const ids = ['a', 'b'];
    const alike = [
      aiContent(ids.map((id) => toolCall(id, 'run_shell_command', { command: `node ${id}.js` }))),
      ...ids.map((id) => toolContent([toolResponse(id, 'run_shell_command', left)])),
    ];
    expect(isEmptyDensityResult(optimize(alike, CONFIG))).toBe(true);
  });
});
