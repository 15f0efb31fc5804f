// What replaces a removed result: the placeholder, names, failures, and always a short text.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolResponse } from '../../../../src/shared/content.js';
import { REMOVED_POINTER } from '../../../../src/shared/density.js';
import {
  endingOf,
  excerptOfBlock,
  excerptTokens,
  isExcerpt,
  isExcerptible,
} from '../../../../src/shared/density/index/excerpt.js';
import { sentText } from '../../../../src/shared/density/index/readable-text.js';
import { estimateResultTokens } from '../../../../src/shared/tokens/estimate.js';
import { naiveExcerpt } from '../../../support/naive-excerpt.js';
import { runs, sightings } from '../../../support/scale.js';
import { excerptOf } from '../../../support/excerpt-of.js';

const word = fc.constantFrom(
  ...[
    'readFile',
    'src/a.ts',
    './src/lib/b.js:12:',
    'x_1',
    'plain',
    'HTTPServer',
    'a.b.c',
    '.env',
    'lib/.rc',
    'a_1..bc',
    '%2Fx_1',
    '%4_name',
    'v1.2',
    '😀',
  ],
  ...[
    'error:',
    'TypeError',
    'FAILED',
    'not ok',
    '\n',
    '\r\n',
    '\\n',
    ' ',
    '{"a":1}',
    '\0',
    '../x/y.rs.',
    '\n  --> src/a.rs:3:5\n',
    String.raw`C:\new\Größế.cs`,
    String.raw`.\next\b.cs"D:\\node\\c.cs \"d/e.ts\"`,
  ],
  'q'.repeat(130),
);
const text = fc
  .array(fc.tuple(word, fc.constantFrom(1, 2, 40, 200)), { maxLength: 30, size: 'max' })
  .map((parts) => parts.map(([part, times]) => `${part} `.repeat(times)).join(''));
/** Results as tools return them. */
const result = fc.oneof<fc.Arbitrary<unknown>[]>(
  text,
  text.map((output) => ({ output, exit_code: 1 })),
  text.map((part) => [{ type: 'text', text: part }]),
);

function holds(law: (given: unknown) => void): void {
  fc.assert(fc.property(result, law), { numRuns: runs(5_000) });
}

describe('excerptOf', () => {
  it('names no path that is half a unit longer than half of the room', () => {
    const named = `zz_1x a.cpp${' '.repeat(99)}`;
    expect(named).toHaveLength(110);
    expect(excerptOf(named, '[p]')).toBe('[p]\nIt named: zz_1x\nIt ended with: zz_1x a.cpp');
    expect(excerptOf(named, REMOVED_POINTER)).toBe(naiveExcerpt(named));
  });

  it('agrees with a naive implementation', () => {
    let seen = 0;
    holds((given) => {
      const excerpt = excerptOf(given, REMOVED_POINTER);
      expect(excerpt).toBe(naiveExcerpt(given));
      if (excerpt.includes('It failed with')) seen += 1;
    });
    expect(seen).toBeGreaterThan(sightings(500));
  });

  it('is recognized, and not excerpted again', () => {
    holds((given) => {
      const excerpt = excerptOf(given, REMOVED_POINTER);
      expect(isExcerpt(excerpt)).toBe(excerpt !== REMOVED_POINTER);
      expect(isExcerptible(excerpt)).toBe(false);
    });
  });

  it('has the same content under each placeholder, however often it is made', () => {
    const response = toolResponse('c1', 'run', 'src/a.ts:1: x\n'.repeat(40));
    const [, said] = excerptOfBlock(response, REMOVED_POINTER).split(REMOVED_POINTER);
    expect(said).toContain('src/a.ts');
    for (const placeholder of ['[one]', '[other]', REMOVED_POINTER])
      expect(excerptOfBlock(response, placeholder)).toBe(placeholder + String(said));
  });

  it('names only what the result names', () => {
    holds((given) => {
      const [, names = ''] = excerptOf(given, REMOVED_POINTER).split('\nIt named: ');
      const sent = sentText(given);
      for (const name of names.split('\n')[0]?.split(' ') ?? []) expect(sent).toContain(name);
    });
  });

  it('is much shorter than the result', () => {
    let seen = 0;
    holds((given) => {
      if (!isExcerptible(given)) return;
      seen += 1;
      const [excerpt = ''] = excerptOf(given, REMOVED_POINTER).split(
        /\nIt (?:failed with|reported): /,
      );
      const estimated = excerptTokens(estimateResultTokens({ result: given }));
      expect(excerpt.length / 4).toBeLessThanOrEqual(estimated + 3);
    });
    expect(seen).toBeGreaterThan(sightings(1_000));
  });

  it('names the paths of a search, and quotes the error of a failing build', () => {
    const search = Array.from({ length: 60 }, (_, at) => `./src/part-${at % 3}.ts:${at}: return`);
    expect(excerptOf(search.join('\n'), '[x]')).toBe(
      '[x]\nIt named: src/part-0.ts src/part-1.ts src/part-2.ts',
    );
    const build = `${'ok 1 a test that passes\n'.repeat(40)}src/a.ts(3,4): error: x is not in scope\n`;
    expect(excerptOf(build, '[x]')).toBe(
      '[x]\nIt named: src/a.ts\nIt reported: src/a.ts(3,4): error: x is not in scope',
    );
    const passed = 'a crate that compiles\n'.repeat(40);
    const rust = `${passed}error[E0308]: mismatched types\n  --> src/a.rs:20:5\n   |\n`;
    expect(excerptOf(rust, '[x]')).toContain(
      '\nIt reported: error[E0308]: mismatched types --> src/a.rs:20:5',
    );
  });

  it('reports a failing part of a report among passing ones', () => {
    const checked = Array.from({ length: 40 }, (_, at) => `- part ${at}: ok`);
    checked[13] = '- part 13: FAILS its check';
    expect(excerptOf(checked.join('\n'), '[x]')).toMatch(/\nIt reported: - part 13: FAILS/);
  });

  it.each([
    ['a page', 'fetch_url', '## Errors\n\nError: connection reset\n'],
    ['an issue', 'mcp__github__get_issue', 'Error: total is NaN\n'],
    ['a snapshot of a page', 'browser_snapshot', '- text "Error: card declined" [ref=e1]\n'],
    ['matches', 'search_code', 'src/a.ts: throw new TypeError: x is missing\n'],
  ])('does not report a failed call that shows %s about a failure', (_, tool, said) => {
    const excerpt = excerptOf(`${'a line of what it shows\n'.repeat(40)}${said}`, '[x]', tool);
    expect(excerpt).not.toContain('It failed with');
    expect(excerpt).toContain(`\nIt reported: ${said.split('\n').at(-2)}`);
    const failed = `${'a line of what it shows\n'.repeat(40)}${said}exit code: 1`;
    expect(excerptOf(failed, '[x]', tool)).toContain('It failed with');
  });

  it('reports success of tests that print expected errors', () => {
    const noise = 'console.error\n  Error: boom\n    at f (a.js:1:2)\n'.repeat(20);
    for (const sum of [
      'Tests:       412 passed, 412 total\nTime:        3 s',
      '9 tests, 0 failures',
    ]) {
      const excerpt = excerptOf(`${noise}${sum}\n`, '[x]');
      expect(excerpt).toContain(`It reported: Error: boom\nIt ended with: ${sum.split('\n')[0]}`);
    }
    expect(excerptOf(`${noise}1 failed, 411 passed`, '[x]')).toContain('It reported: 1 failed');
  });

  it('quotes the count of failures if no line names one, whatever is counted behind it', () => {
    const problems = Array.from(
      { length: 2_000 },
      (_, at) => `  ${at}:7  error  'x' is not used  no-x`,
    );
    const sum = '✖ 2040 problems (2000 errors, 40 warnings)';
    const fixable = '  0 errors and 40 warnings potentially fixable with the `--fix` option.';
    const output = ['/app/a.js', ...problems, '', sum, fixable].join('\n');
    expect(excerptOf({ output, exit_code: 1 }, '[x]')).toMatch(`\nIt failed with: ${sum}`);
    expect(excerptOf({ output, exit_code: 1 }, '[x]')).not.toContain('0 errors and');
  });

  it('quotes what npm reports before it names its log', () => {
    const npm = 'npm error code E404\nnpm error 404 Not Found - GET /a\n';
    const log = 'npm error A complete log of this run can be found in: /root/.npm/_logs/b.log\n';
    const said = excerptOf(`${'npm warn deprecated a@1: use b\n'.repeat(20)}${npm}${log}`, '[x]');
    expect(said.split('\nIt reported: ').slice(1)).toEqual(npm.trimEnd().split('\n'));
  });

  it('quotes the exception at the end of a traceback, and headings only if there is nothing else', () => {
    const frames = '  File "/w/a.py", line 8, in <module>\n    main()\n'.repeat(12);
    const thrown = 'etl.errors.QuotaReached: exports-eu: 100/100';
    const traceback = `Traceback (most recent call last):\n${frames}${thrown}\n`;
    expect(excerptOf(traceback, '[x]')).toMatch(/It reported: etl\.errors\.QuotaReached: .*$/);
    const mixed = traceback.replace('main()', 'main()\nPrinting what it does...');
    expect(excerptOf(mixed, '[x]')).toContain(`It reported: ${thrown}`);
    const heading = '==== FAILURES ====\n';
    const tests = `${heading}${'a plain line of it\n'.repeat(20)}E   assert 1 == 2\n1 failed`;
    expect(excerptOf(tests, '[x]', 'run', 'exit 1').split('\nIt failed with: ').slice(1)).toEqual([
      'E   assert 1 == 2',
      '1 failed',
    ]);
    const nothing = `${heading}${'a plain line of it\n'.repeat(20)}`;
    expect(excerptOf(nothing, '[x]')).toContain('\nIt reported: ==== FAILURES ====');
  });

  it('reports how many failed besides the first ones, and the last exception', () => {
    const failed = Array.from({ length: 9 }, (_, at) => `test_a.py::test_${at} FAILED [ ${at}%]`);
    const noise = 'a plain line of it\n'.repeat(20);
    const tests = `${noise}${failed.join('\n')}\n${noise}== 9 failed, 219 passed in 0.80s ==`;
    expect(excerptOf(tests, '[x]', 'run', 'exit 1').split('\nIt failed with: ').slice(1)).toEqual([
      ...failed.slice(0, 2),
      '== 9 failed, 219 passed in 0.80s ==',
    ]);
    const thrown = (what: string): string =>
      `Traceback (most recent call last):\n  File "/w/a.py", line 8, in <module>\n    main()\n${what}\n`;
    const chain = ['KeyError: 1', 'RuntimeError: no config', "PriceError: cannot price 'x'"];
    const behind = '\nDuring handling of the above exception, another exception occurred:\n\n';
    const kept = excerptOf(noise + chain.map(thrown).join(behind), '[x]', 'run', 'exit 1');
    expect(kept.split('\nIt failed with: ').slice(1)).toEqual(chain);
  });

  it('does not quote headings as an outcome, but quotes the sum of a plan', () => {
    const noise = 'a plain line of it\n'.repeat(20);
    const plan = 'Plan: 1 to add, 40 to change, 1 to destroy.\n\nChanges to Outputs:\n  ~ db = 1';
    expect(excerptOf(noise + plan, '[x]')).toMatch(/It ended with: Plan: 1 to add, 40 to change/);
    const audit =
      '2 vulnerabilities (1 high)\n\nTo address all (including breaking changes), run:\n';
    expect(excerptOf(noise + audit, '[x]')).toMatch(/It ended with: 2 vulnerabilities/);
  });

  it('reads what a terminal would show, and names no file modes or ages', () => {
    const noise = 'a plain line of it\n'.repeat(20);
    const coloured = `${noise}\u001b[1m\u001b[31mERROR\u001b[0m push denied for \u001b[36mapi_v2\u001b[0m\n`;
    expect(excerptOf(coloured, '[x]')).toBe(
      '[x]\nIt named: ERROR api_v2\nIt reported: ERROR push denied for api_v2',
    );
    const listed =
      '-rw-r--r-- 1 me me 483 Nov 26 15:52 ok.cpp\ndrwxr-xr-x 2 me me 4 Nov 26 15:52 map\n';
    expect(excerptOf(listed.repeat(9), '[x]')).toContain('It named: ok.cpp\n');
    const pods = 'api-7c9d 1/1 Running 0 10d7h\napi-8e1f 0/1 Pending 3 5h32m10s\n';
    expect(excerptOf(pods.repeat(9), '[x]')).toContain('It named: api-7c9d api-8e1f\n');
  });

  it('quotes the message of a JSON entry, not only its level', () => {
    const results = [
      { level: 'note', message: { text: 'all is well' } },
      { level: 'error', message: { text: 'This path is given by a user.' } },
    ];
    for (const space of [0, 2]) {
      const report = JSON.stringify({ rules: 'r '.repeat(200), results }, null, space);
      expect(excerptOf(report, '[x]')).toMatch(
        /\nIt reported: \{?"level":.*This path is given by a user/,
      );
    }
  });

  it('names the ids of a list of items if all of them fit, and then nothing else', () => {
    const ids = Array.from({ length: 50 }, (_, at) => `19c3468${at}f3f2afc`);
    const items = ids.map((id) => ({ id, text: 'A mail with an_invoice, see x.com. '.repeat(6) }));
    const few = excerptOf(JSON.stringify(items.slice(0, 20)), '[x]');
    expect(few).toBe(`[x]\nIt named: id: ${ids.slice(0, 20).join(' ')}`);
    expect(excerptOf(JSON.stringify(items), '[x]')).not.toContain('It named: id:');
  });

  it('names the links of a list of links, in full', () => {
    const found = Array.from(
      { length: 9 },
      (_, at) =>
        `${at + 1}. **A title of a page ${at}**\n   (https://b.example.com/p/${at}?q=a&x=1).\n   Some words.`,
    );
    const [, named = ''] = excerptOf(found.join('\n'), '[x]', 'web_search').split('\nIt named: ');
    expect(named.split('\n')[0]).toBe('https://b.example.com/p/0?q=a&x=1');
    const more = excerptOf(
      found.concat(found.map((line) => line.replaceAll('/p/', '/r/'))).join('\n'),
      '[x]',
    );
    expect(more).toContain(
      'named: https://b.example.com/p/0?q=a&x=1 https://b.example.com/p/1?q=a&x=1',
    );
    const tracked = found.map((line) => line.replace('q=a', `q=${'a'.repeat(120)}`)).join('\n');
    expect(excerptOf(tracked, '[x]')).not.toContain('https');
    const code = `// See https://b.example.com/a and https://b.example.com/b\nreadFile(x_1);\n`;
    expect(excerptOf(code.repeat(20), '[x]')).not.toMatch(/named: .*https/);
  });

  it('names the address of a page in a browser, and no refs of its elements', () => {
    const elements = Array.from(
      { length: 60 },
      (_, at) => `  - button "Add it" [ref=f1e${at + 900}]`,
    );
    const page = (above: string): string => `${above}\n- Page Snapshot:\n${elements.join('\n')}`;
    const address = 'https://shop.example/checkout/confirm?order=7731';
    expect(excerptOf(page(`### Page\n- Page URL: ${address}\n- Page Title: Done`), '[x]')).toBe(
      `[x]\nIt named: ${address}\nIt ended with: - button "Add it" [ref=f1e959]`,
    );
    expect(excerptOf(page(`See ${address}`), '[x]')).toMatch(/^\[x\]\nIt named: shop.example\n/);
    expect(excerptOf(page('GET /contents/a?ref=3f2a91c'), '[x]')).toContain('3f2a91c');
  });

  it('names first what is named most often, however many names are as long', () => {
    const names = Array.from({ length: 200 }, (_, at) => `name_${at + 100}`);
    for (const often of names.slice(-20)) {
      const [, named = ''] = excerptOf([...names, often].join('\n'), '[x]').split('\nIt named: ');
      expect(named.split(' ')[0]).toBe(often);
    }
  });

  it('names no numbers', () => {
    const rows = Array.from({ length: 40 }, (_, at) => `[ 6.${at}340e-01 -7.0${at}80e-02 1.5e+03]`);
    expect(excerptOf(`loss_curve\n${rows.join('\n')}`, '[x]')).toBe('[x]\nIt named: loss_curve');
  });

  it('has no lines that would make it as long as the result', () => {
    const line = 'error: connect ECONNREFUSED 127.0.0.1:5432, which is where the database listens';
    const lines = `${line}\n${line.replace('5432', '5433')}`;
    const placeholder = `[${'run '.repeat(20)}]`;
    expect(excerptOf(`${lines}\n${'.'.repeat(200)}`, placeholder)).toContain('It reported: ');
    expect(excerptOf(lines, placeholder)).toBe(placeholder);
  });

  it('reports a failed call without a line about the failure', () => {
    const host = 'Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\n';
    expect(excerptOf(host, '[x]')).toBe('[x]\nIt failed with: exit code 1');
    const refused = { isError: true, content: [{ type: 'text', text: 'refused' }] };
    expect(excerptOf(refused, '[x]', 'create_refund')).toBe('[x]\nIt failed with: refused');
    expect(excerptOf(host, '[x]', 'run', 'it failed')).toBe('[x]');
  });

  it.each([
    'from django.core.exceptions import FieldError',
    '    except AttributeError:',
    '    # restores ImportError',
    'class NotFoundError(LookupError):',
    ' * throws a TypeError',
  ])('does not take code about exceptions for one: %s', (code) => {
    const shown = `${'    a_line = of_code(x)\n'.repeat(20)}${code}\n${'    last = of_code(x)\n'.repeat(3)}`;
    expect(excerptOf(shown, '[x]')).not.toMatch(/It (?:failed|reported)/);
    const thrown = `${shown}java.lang.NullPointerException\n`;
    expect(excerptOf(thrown, '[x]')).toContain('It reported: java.lang.NullPointerException');
  });

  it('does not report a failure from fields that state there is none', () => {
    for (const none of ['error: none', 'lastError: null', 'failed: 0', 'Failures: 0, Errors: 0']) {
      const text = `${'a plain line of it\n'.repeat(20)}${none}\nthe state is known`;
      expect(excerptOf(text, '[x]')).not.toMatch(/It (?:failed|reported)/);
    }
  });

  it('reads answers of MCP tools, and logs in JSON to their end', () => {
    const json = JSON.stringify({ id: 'I-7', state: 'open', body: 'x '.repeat(200) });
    const content = [{ type: 'text', text: json }];
    for (const given of [{ content }, content, json]) {
      expect(excerptOf(given, '[x]')).toMatch(/^\[x\]\nIt began with: \{"id":"I-7","state":"open"/);
    }
    const log = '{"level":"info","msg":"at work"}\n'.repeat(20);
    expect(excerptOf(`${log}{"msg":"all done"}`, '[x]')).toBe(
      '[x]\nIt ended with: {"msg":"all done"}',
    );
  });

  it.each([
    ['tests', 'Tests:       412 passed, 413 total', 'Snapshots:   0 total\nTime:        14.1 s'],
    ['a program', 'test result: ok. 15 passed; 0 failed; 0 ignored', ''],
    ['an apply', 'Apply complete! Resources: 0 added, 1 changed.', 'Outputs:\n\nurl = "https://x"'],
    ['a commit', '4 files changed, 31 insertions(+)', ''],
    ['an audit', '20 vulnerabilities (9 moderate, 8 high)', 'To fix them, run:\n  npm audit fix'],
    ['Maven', '[INFO] BUILD SUCCESS', '[INFO] Finished at: 2026-03-04T10:11:12+01:00'],
    ['a query', '(73 rows)', ''],
    ['a plan', 'Plan: one to replace', ''],
    ['a saved plan', 'Plan: 1 to add, 0 to change, 2 to destroy.', '\nSaved the plan to: tfplan'],
    ['a log', '2025-11-24T16:01:42.340Z caught up with all of it', ''],
    ['a log of a day', '[16:01:42] caught up with all of it', ''],
    ['an empty plan', 'No changes. All of it is up to date.', '\nSaved the plan to: tfplan'],
    ['a training', 'best val_accuracy: 0.81 at epoch 8', ''],
    ['tests in Chinese', '全部测试通过', ''],
  ])('states the outcome of %s, so that nobody runs it again for that', (_, outcome, behind) => {
    const output = `${'a line of what it did meanwhile\n'.repeat(40)}${outcome}\n${behind}`;
    for (const given of [output, { output, exit_code: 0 }]) {
      expect(excerptOf(given, '[x]')).toContain(`\nIt ended with: ${outcome}`);
    }
    expect(excerptOf({ output, exit_code: 2 }, '[x]')).toContain(`\nIt failed with: ${outcome}`);
  });

  const codex = (code: number, said: string): string =>
    `Chunk ID: 80f6b5\nWall time: 0.0421 seconds\nProcess exited with code ${code}\n` +
    `Original token count: 99\nOutput:\n${said}\n`;
  const gemini = (code: number, said: string): object => ({
    output:
      `<untrusted_context>\nOutput: ${said}\n${code === 0 ? '' : `Exit Code: ${code}\n`}` +
      'Process Group PGID: 27775\n</untrusted_context>',
  });
  const qwen = (code: number, said: string): string =>
    `Command: ./migrate\nDirectory: (root)\nOutput: ${said}\nError: (none)\nExit Code: ${code}\n` +
    'Signal: (none)\nProcess Group PGID: 27775';
  const claude = (code: number, said: string): string =>
    `${code === 0 ? '' : `Exit code ${code}\n`}${said}\n\n` +
    '<system-reminder>\nNo task was noted in a while.\nIgnore it if there is none.\n</system-reminder>\n\n' +
    '<system-reminder>\nSomebody has changed a.ts.\n</system-reminder>\n';

  it.each([
    ['Codex', codex],
    ['Gemini CLI', gemini],
    ['Qwen Code', qwen],
    ['Claude Code', claude],
  ])('states the outcome of a command, not what %s writes around it', (_, wrapped) => {
    const said = `${'a line of what it did meanwhile\n'.repeat(40)}the table is at 0003`;
    expect(excerptOf(wrapped(0, said), '[x]')).toMatch(/\nIt ended with: the table is at 0003$/);
    expect(excerptOf(wrapped(3, said), '[x]')).toMatch(/\nIt failed with: the table is at 0003$/);
  });

  it('keeps a result that consists of a reminder only', () => {
    const reminder = `<system-reminder>\n${'the file is there and empty\n'.repeat(9)}</system-reminder>`;
    expect(excerptOf(reminder, '[x]')).toContain('\nIt ended with: the file is there and empty');
  });

  it.each([
    ['a listing', '-rw-r--r-- 1 root root 9087 Nov 26 09:41 errors.ts'],
    ['a count of lines', '  6624 src/b.ts\n   124 failures.test.ts\n 13264 total'],
    ['a frame of data', '<p>40 rows × 3 columns</p>'],
    ['a unit', '● nginx.service - A high performance web server\n   Active: active (running)'],
  ])('does not take names and sizes in %s for a failure', (_, said) => {
    const excerpt = excerptOf(`${'a line of what it did meanwhile\n'.repeat(40)}${said}`, '[x]');
    expect(excerpt).not.toContain('It failed with');
  });

  it.each([
    ['Jest', '  ● sums › adds numbers', '● sums › adds numbers'],
    ['Vitest', ' × test/a.test.ts > adds 3ms', '× test/a.test.ts > adds 3ms'],
    ['a program', 'Segmentation fault (core dumped)', 'Segmentation fault (core dumped)'],
    ['logfmt', 'ts=1 level=error msg="no route"', 'ts=1 level=error msg="no route"'],
    ['zap', '{"level":"error","ts":1.5,"msg":"dial","error":"no route"}', 'dial; no route'],
    ['pino', '{"level":50,"pid":7,"err":{"type":"E"},"msg":"no route"}', 'no route'],
    [
      'go test -json',
      String.raw`{"Action":"output","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}`,
      '--- FAIL: TestA (0.00s)',
    ],
    ['a field of any name', '{"a":"b","detail":"Error: no route"}', 'Error: no route'],
  ])('quotes what %s says about a failure', (_, line, quoted) => {
    const others = '{"level":"info","msg":"all is well"}\n'.repeat(40);
    const excerpt = excerptOf(`${others}${line}\n${others}`, '[x]');
    expect(excerpt.split('\nIt reported: ').slice(1)).toEqual([quoted]);
  });

  it('does not quote the frame of a table as the outcome', () => {
    const table = `${'│ lib1 │ LOW │ fixed │\n'.repeat(40)}└──────┴─────┴───────┘`;
    expect(excerptOf(table, '[x]')).toMatch(/\nIt ended with: │ lib1 │ LOW │ fixed │$/);
  });

  it('names the cursor of the next page of a list, even if it quotes a failure', () => {
    const issues = Array.from({ length: 30 }, (_, at) => ({ id: `I-${at}`, title: 'a title' }));
    const list = { issues, pageInfo: { hasNextPage: true, endCursor: 'Y3Vyc29yOnYyOpK5==' } };
    const next = '\nIt goes on with: endCursor: Y3Vyc29yOnYyOpK5==';
    expect(excerptOf(JSON.stringify(list), '[x]')).toMatch(new RegExp(`.*${next}$`));
    const failed = JSON.stringify({ ...list, note: 'Error: one is missing' });
    expect(excerptOf(failed, '[x]')).toMatch(
      new RegExp(`It reported: .*\nIt began with: .*${next}$`),
    );
    const long = { ...list, pageInfo: { endCursor: 'a1'.repeat(150) } };
    expect(excerptOf(JSON.stringify(long), '[x]')).not.toContain('It goes on');
  });

  it('quotes the start of a JSON object, where its id and its state are', () => {
    const ledger = Array.from({ length: 30 }, (_, at) => ({ account: at, credit: at * 7 }));
    const refund = { id: 're_fed80b19', amount: 1999, status: 'succeeded', ledger };
    const began =
      '\nIt began with: {"refund":{"id":"re_fed80b19","amount":1999,"status":"succeeded"';
    expect(excerptOf({ refund }, '[x]')).toContain(began);
    expect(excerptOf('{"data":{"columns":["id"],"rows":[[1]]}}'.padEnd(900), '[x]')).toBe('[x]');
    const table = '{"customer":"cus_1","rows":{"columns":["at"],"rows":[[1]]}}'.padEnd(900);
    expect(excerptOf(table, '[x]')).toContain('\nIt began with: {"customer":"cus_1","rows":');
  });

  it('names the id and the state of an object, wherever they are among its fields', () => {
    const url = 'https://api.example.com/repos/acme/app/pulls/412';
    const links = Object.fromEntries(
      ['diff', 'patch', 'issue'].map((key) => [key, `${url}/${key}`]),
    );
    const body = 'What it does\nand why\nand how';
    const pull = { url, links, user: { id: 7, state: 'x' }, body, number: 412, state: 'open' };
    const long = {
      ...pull,
      commits: Array.from({ length: 40 }, (_, at) => ({ at })),
      head_id: 'h1',
    };
    for (const space of [0, 2]) {
      expect(excerptOf(JSON.stringify(long, null, space), '[x]')).toMatch(
        `\nIt held: {"number":412,"state":"open","url":"${url}","head_id":"h1"}`,
      );
    }
    expect(excerptOf({ ...long, number: undefined }, '[x]')).not.toContain('It held');
    const { number, state, ...rest } = { ...long, head_id: [] };
    // An object whose text has line breaks is not quoted from its start.
    expect(excerptOf({ number, state, ...rest, url: [] }, '[x]')).toContain(
      'It held: {"number":412,"state":"open"}',
    );
    expect(isExcerpt(excerptOf(long, REMOVED_POINTER))).toBe(true);
  });

  it('takes no line of a file for an outcome or a failure, and no note of ours for a name', () => {
    const numbered = Array.from({ length: 40 }, (_, at) => `${at + 1}→ throw new Error: done`);
    expect(excerptOf(numbered.join('\n'), '[x]')).toBe('[x]');
    const shrunk =
      `${'plain words\n'.repeat(60)}[… 9 lines as in read …]\n` +
      '[Shortened from 9000 characters: lines of earlier results (call_1abc)]';
    // Its last line is shown by the other result.
    expect(excerptOf(shrunk, '[x]')).toBe('[x]');
    const ends = shrunk.replace('\n[Short', '\nDone, 3 changed\n[Short');
    expect(excerptOf(ends, '[x]')).toBe('[x]\nIt ended with: Done, 3 changed');
    const named = `${'plain words\n'.repeat(60)}[… 9 lines as in run_tests error: a.ts …]\nlast words`;
    expect(excerptOf(named, '[x]')).toBe('[x]\nIt ended with: last words');
  });

  it('names no versions and durations, which are frequent in outputs', () => {
    const built = '   Compiling rand_core v0.6.4 in 0.31s (31ms)\n'.repeat(40);
    expect(excerptOf(built, '[x]')).toMatch(/^\[x\]\nIt named: rand_core\n/);
  });

  it('names no times, and no URL escapes', () => {
    const log = '2025-11-24T16:01:42.340Z poll_orders 2025-11-24T16:01:43Z ok\n'.repeat(40);
    expect(excerptOf(log, '[x]')).toMatch(/^\[x\]\nIt named: poll_orders\n/);
    const pages = 'see x.org/doc%20SetCookie%28Header%29_v2 or LIKE %add_all%\n'.repeat(40);
    expect(excerptOf(pages, '[x]')).toMatch(/^\[x\]\nIt named: x.org add_all SetCookie\n/);
  });

  it('names values in JSON on one line, as tools return it', () => {
    const orders = Array.from({ length: 40 }, (_, at) => ({ id: `ord_${at}`, eta: 'soon' }));
    const result = { email: 'ada@example.com', text: '{"file":"app/a.ts"}', orders };
    for (const given of [result, JSON.stringify(result)]) {
      const excerpt = excerptOf(given, REMOVED_POINTER);
      for (const name of ['ada@example', 'ord_0', ' app/a.ts']) expect(excerpt).toContain(name);
    }
  });

  it('decodes JSON escapes', () => {
    const page = String.raw`https:\/\/api.example.com\/v1\/orders?page=2\u0026size=50`;
    const title = String.raw`\u8ba2\u5355\u5df2\u53d1\u8d27 \ud83d\ude9a\ud83d`;
    const orders = Array.from({ length: 40 }, () => ({
      title: '$',
      file: '#',
      gap: '\0'.repeat(20),
    }));
    const json = JSON.stringify({ next_page_url: '@', orders })
      .replace('@', page)
      .replaceAll('$', title)
      .replaceAll('#', String.raw`src\/orders.php`);
    const excerpt = excerptOf(json, '[x]');
    expect(excerpt).toContain('[x]\nIt named: src/orders.php next_page_url api.example.com\n');
    expect(excerpt).toContain('"title":"订单已发货 🚚 "');
    expect(excerpt).toMatch(
      /\nIt goes on with: next_page_url: https:\/\/api.example.com\/v1\/orders\?page=2&size=50$/,
    );
  });

  it('holds the ids of what an action made, wherever they are in its answer', () => {
    const history = Array.from({ length: 40 }, (_, at) => ({ at, note: 'the parcel was late' }));
    const answer = JSON.stringify({ history, order: 'o-7', refund_id: 're-2f6' });
    const held = `It held: {"refund_id":"re-2f6"}`;
    expect(excerptOfBlock(toolResponse('c1', 'create_refund', answer), '[x]')).toContain(held);
    expect(excerptOfBlock(toolResponse('c1', 'get_refund', answer), '[x]')).not.toContain(held);
  });

  it('skips lines too long to read, and reads no more than the beginning', () => {
    expect(excerptOf(`readFile ${'x'.repeat(1_000)}`, '[x]')).toBe('[x]');
    expect(excerptOf(`${'plain\n'.repeat(20_000)}readFile`, '[x]')).toBe('[x]');
  });

  it('takes time linear in what it reads, whatever the text', () => {
    const shapes = ['a.', '/a', 'a-', '_', '$.', 'A', './', '~/.', 'error', '😀', '\\n', '\n'];
    for (const shape of shapes) {
      const hostile = shape.repeat(1_000_000 / shape.length);
      expect(excerptOf(hostile, '[x]').length).toBeLessThan(800);
    }
  });
});

describe('endingOf', () => {
  it.each([
    ['Error: it is missing', 'Error: it is missing'],
    ['Error: it is missing\n1 failed, 3 passed', '1 failed, 3 passed'],
    ['fatal: no such branch\nall of it\nBUILD FAILED', 'fatal: no such branch … BUILD FAILED'],
    [`${REMOVED_POINTER}\nIt ended with: 3 passed`, '3 passed'],
    [REMOVED_POINTER, ''],
  ])('quotes of %j, without duplicates: %s', (result, ending) => {
    expect(endingOf(toolResponse('c1', 'run', result))).toBe(ending);
  });
});

describe('isExcerpt', () => {
  it.each([
    ['', null, 5, {}, REMOVED_POINTER, 'It named: a', '\nIt named: a', 'x]\nIt named: a'],
    [`[${'x'.repeat(1_500)}]\nIt named: a`, '[x]\n\nIt named: a', ['[x]\nIt named: a']],
  ])('is false for %j and the like', (...others) => {
    for (const other of others) expect(isExcerpt(other)).toBe(false);
  });
});
