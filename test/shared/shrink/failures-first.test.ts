// What `failuresFirst` shows of the output of real programs: each failure with its context, and where it is.

import { describe, expect, it } from 'vitest';
import {
  countsFailures,
  FAILURES_FIRST,
  reportsFailure,
} from '../../../src/shared/shrink/failures-first.js';
import { Draft } from '../../../src/shared/shrink/shrinker.js';

/** The shortened output of a build or test. */
function left(lines: readonly string[], command = 'make test'): readonly string[] {
  const subject = { purpose: 'command', command, level: 'default' } as const;
  return FAILURES_FIRST.shrink(Draft.ofLines(lines), subject)?.lines ?? lines;
}

function times<Item>(count: number, item: (at: number) => Item): readonly Item[] {
  return Array.from({ length: count }, (_, at) => item(at));
}

/** Irrelevant lines, which differ in letters. */
const NOISE = times(100, (at) => `${'abcdefghij'.charAt(at % 10)} compiled ${'m'.repeat(at % 17)}`);

describe('reportsFailure', () => {
  it.each([
    ['a.ts(3,1): error TS2304: Cannot find name', true],
    ['KeyError: 1', true],
    ['  raise KeyError: 1', false],
    [' ✓ says "error: a"', false],
    ['src/a.ts:12:  error: a', false],
    ['[… 3 lines as in bash echo "error: a" …]', false],
    ['[… error: a', true],
    ['error: a …]', true],
    ['a warning', false],
  ])('is for "%s" %s', (line, reports) => {
    expect(reportsFailure(line)).toBe(reports);
  });

  it('does not count the failures of a passed test', () => {
    expect(countsFailures('3 tests failed')).toBe(true);
    expect(countsFailures(' ✓ shows that 3 tests failed')).toBe(false);
    expect(countsFailures('error: no test')).toBe(false);
  });
});

describe('failuresFirst', () => {
  it('omits counts of no failures, such as for each test class of Maven', () => {
    const passed = times(
      200,
      (at) => `[INFO] Tests run: 3, Failures: 0, Errors: 0 -- in C${at}Test`,
    );
    const failed = '[ERROR] Tests run: 7, Failures: 1, Errors: 0 -- in InvoiceTest';
    const kept = left([...passed, failed, ...NOISE, ...passed], 'mvn test');
    expect(kept).toContain(failed);
    expect(kept.length).toBeLessThan(110);
  });

  it.each([
    [
      'cargo',
      (at: number) => `test case_${at} ... ok`,
      (at: number) => `test case_${at} ... FAILED`,
    ],
    [
      'pytest',
      (at: number) => `tests/test_a.py::test_${at} PASSED [ 12%]`,
      (at: number) => `tests/test_a.py::test_${at} FAILED [ 12%]`,
    ],
    [
      'ctest',
      (at: number) => `  ${at}/99 Test #${at}: a_${at} .....   Passed    0.01 sec`,
      (at: number) => `  ${at}/99 Test #${at}: a_${at} .....***Failed    0.01 sec`,
    ],
    [
      'dotnet',
      (at: number) => `  Passed Shop.Tests.Case_${at} [1 ms]`,
      (at: number) => `  Failed Shop.Tests.Case_${at} [1 ms]`,
    ],
  ])(
    'shows for the failures that %s lists their details, and no passed tests around them',
    (_, passed, failed) => {
      const list = times(200, (at) => (at % 25 === 20 ? failed(at) : passed(at)));
      const details = times(8, (at) => [
        `____ case ${at} ____`,
        '>   assert total == 3',
        `E   assert ${at} == 3`,
        `tests/test_a.py:${at}: AssertionError`,
        '',
      ]).flat();
      const kept = left([...NOISE.slice(0, 20), ...list, ...details, ...NOISE.slice(0, 60)]);
      expect(kept.filter((line) => list.includes(line))).toEqual(
        list.filter((_line, at) => at % 25 === 20),
      );
      expect(kept).toEqual(expect.arrayContaining(details));
    },
  );

  it('shows the file with each problem listed under it, so that none is attributed to another file', () => {
    const problems = times(60, (at) => [
      `/app/src/file${at}.ts`,
      ...times(6, (line) => `  ${line}:7  notice  Something of ${at}`),
      `  9:5  error  'x${at}' is not defined  no-undef`,
      '',
    ]);
    const kept = left([...NOISE.slice(0, 15), ...problems.flat(), '✖ 60 problems'], 'eslint .');
    let file = '';
    let shown = 0;
    for (const line of kept) {
      if (line.startsWith('/app')) file = line;
      const at = /'x(\d+)'|something of (\d+)/i.exec(line)?.slice(1).join('');
      if (at === undefined) continue;
      expect(file).toBe(`/app/src/file${at}.ts`);
      shown += 1;
    }
    expect(shown).toBeGreaterThan(90);
    expect(kept.length).toBeLessThan(400);
  });

  it('shows no passed test whose name reports an error, and one failure of each kind first', () => {
    const name = (at: number): string => 'abcdefghij'.charAt(at % 10).repeat(1 + (at % 37));
    const passed = times(300, (at) => ` ✓ says "error: ${name(at)}"`);
    const failed = times(300, (at) => `src/${name(at)}.ts:${at}: error: no ${at % 2}`);
    const once = 'src/a.ts:1: error: something else';
    const kept = left([...NOISE, ...passed, ...failed, once, ...passed, ...NOISE]);
    expect(kept).toContain(once);
    expect(kept.length).toBeLessThan(260);
  });

  it('shows at most 40 failures without their context, each with its heading behind blank lines', () => {
    const listed = ['    and', '    then', '    there', ''];
    const failed = times(100, (at) => [`k${at}/`, ...listed, `  error: ${at}${'m'.repeat(at)}`]);
    const kept = left([...NOISE, ...failed.flat(), ...NOISE]);
    let heading = '';
    let shown = 0;
    for (const line of kept) {
      if (/^k\d+\/$/.test(line)) heading = line;
      if (!line.startsWith('  error')) continue;
      expect(heading).toBe(`k${/\d+/.exec(line)?.[0] ?? ''}/`);
      shown += 1;
    }
    expect(shown).toBe(4 * 4 + 40);
  });

  it('leaves the results of searches and of other programs, and those of which nothing would go', () => {
    const subject = { purpose: 'search', command: 'make', level: 'strong' } as const;
    expect(FAILURES_FIRST.shrink(Draft.ofLines(NOISE), subject)).toBeUndefined();
    const command = { ...subject, purpose: 'command' } as const;
    expect(FAILURES_FIRST.shrink(Draft.ofLines(NOISE), command)).toBeDefined();
    const failing = times(125, (at) => `error: ${'m'.repeat(at)}`);
    const unchanged = FAILURES_FIRST.shrink(Draft.ofLines(failing), {
      ...command,
      level: 'default',
    });
    expect(unchanged).toBeUndefined();
  });

  it.each([
    'npm.cmd test',
    'powershell -NoProfile -Command "npm test"',
    String.raw`.\node_modules\.bin\vitest.cmd run`,
    String.raw`& "C:\Program Files\MSBuild\MSBuild.exe" a.sln`,
    'gradlew.bat test',
  ])('recognizes builds and tests on Windows: %s', (command) => {
    const lines = [...NOISE, 'a.cs(1,2): error CS1002: ; expected', ...NOISE];
    const kept = left(lines, command);
    expect(kept.length).toBeLessThan(120);
    expect(kept).toContain(lines[100]);
  });

  it('does not take a note about omitted lines for a heading', () => {
    const note = '[… 31 lines like it left out …]';
    const lines = [...NOISE, 'the head of it', note, '  ✓ adds', '  ✓ squares', '  ✘ subtracts'];
    const kept = left([...lines, '  ✓ divides', ...NOISE], 'npx playwright test');
    expect(kept).toContain('the head of it');
    expect(kept).not.toContain(note);
  });

  it('counts the lines behind the notes that it omits', () => {
    const notes = [
      '[… 31 lines like it left out …]',
      '[… the same line 9 more times left out …]',
      '[… 40 characters left out …]',
    ];
    const lines = [...NOISE, ...notes, ...NOISE];
    const [first = '', ...others] = left(lines).filter((line) => line.startsWith('[…'));
    expect(others).toEqual([]);
    const shown = left(lines).length - 1;
    expect(first).toBe(`[… ${lines.length - shown - notes.length + 31 + 9 + 1} lines left out …]`);
  });

  it.each(['npx oxlint src', 'biome check .', 'node --test', 'npx vite build', 'npx ava'])(
    'shortens the output of %s, and shows warnings marked with a sign',
    (command) => {
      const warned = ['  ⚠ eslint(no-var): Use let', '   ╭─[src/a.js:1:21]'];
      const kept = left([...NOISE, ...warned, ...NOISE], command);
      expect(kept).toEqual(expect.arrayContaining(warned));
      expect(kept.length).toBeLessThan(70);
    },
  );

  it('shows the place of each failure that is shown without its context', () => {
    const errors = times(30, (at) => [
      `error[E0308]: mismatched types`,
      `  --> src/mod${at}.rs:${at + 20}:5`,
      '   |',
      ...times(12, (line) => `${line} | let total = order.total;`),
      '',
    ]);
    const warnings = times(5, (at) => [
      'warning: unused variable: `x`',
      `  --> src/w${at}.rs:1:2`,
      ...NOISE.slice(0, 20),
    ]);
    const kept = left([...NOISE, ...errors.flat(), ...warnings.flat(), ...NOISE], 'cargo build');
    for (const [at, line] of kept.entries()) {
      if (/^error\[|^warning:/.test(line)) expect(kept[at + 1]).toMatch(/^ {2}--> src\/\w+\.rs:/);
    }
    expect(kept.filter((line) => line.startsWith('error['))).toHaveLength(30);
    expect(kept.filter((line) => line.startsWith('warning:'))).toHaveLength(5);
  });

  it('shows the heading of the first line of the tail', () => {
    const listed = times(44, (at) => `  ${at}:1  notice  Something`);
    const lines = [...NOISE, '/app/src/file.ts', ...times(9, () => '  1:1  notice  A'), ...listed];
    expect(left([...lines, 'done'], 'eslint .')).toContain('/app/src/file.ts');
  });

  it('shows at most 8 equal warnings, and no code with one', () => {
    const warned = times(30, (at) => [
      `tests/test_a.py::test_${at}`,
      `  /app/tests/test_a.py:${at}: DeprecationWarning: old api`,
      '    warnings.warn("old api", DeprecationWarning)',
      '',
    ]).flat();
    const kept = left([...NOISE, ...warned, ...NOISE], 'pytest');
    expect(kept.filter((line) => line.includes('/app/tests/'))).toHaveLength(8);
    expect(kept).toHaveLength(15 + 1 + 4 * 8 - 2 + 1 + 45);
  });

  it('shows a unique failure among repeated ones, and few of the repetitions', () => {
    const platinum = times(60, (at) => [
      `____ test_price[${at}-platinum] ____`,
      ...times(9, (line) => `    a line of code ${'abcdefghi'.charAt(line)}`),
      "E   KeyError: 'platinum'",
      `billing.py:7: KeyError`,
      '',
    ]);
    const once = [
      '____ test_price[41-gold] ____',
      'E   assert 4.1 == 4.11',
      'test_a.py:5: AssertionError',
    ];
    const listed = times(60, (at) => `test_a.py::test_price[${at}-platinum] FAILED  [ ${at}%]`);
    const all = [...platinum.slice(0, 41).flat(), ...once, ...platinum.slice(41).flat()];
    const kept = left([...NOISE, ...listed, ...all, ...NOISE], 'pytest -v');
    expect(kept).toEqual(expect.arrayContaining(once));
    expect(kept).toContain("E   KeyError: 'platinum'");
    const alike = kept.filter((line) => line === "E   KeyError: 'platinum'");
    expect(alike.length).toBeLessThan(12);
    expect(kept.length).toBeLessThan(260);
  });

  it('shortens the log of a continuous-integration run', () => {
    const log = NOISE.map((line) => `build\tRun npm test\t2026-01-02T10:00:00.1Z ${line}`);
    const error = 'build\tRun npm test\t2026-01-02T10:00:01.1Z ##[error]Process completed';
    const kept = left([...log, error, ...log], 'gh run view 12345 --log-failed');
    expect(kept).toContain(error);
    expect(kept.length).toBeLessThan(100);
    expect(left([...log, error, ...log], 'gh run view 12345')).toHaveLength(201);
  });
});
