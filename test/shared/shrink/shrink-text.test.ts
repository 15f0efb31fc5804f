// What each shrinker removes from a text and what it keeps, and properties of the chain for any text.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTILE_TEXTS } from '../../../bench/support/hostile-texts.js';
import {
  shortenedText,
  SHRINKER_NAMES,
  withReferences,
} from '../../../src/shared/shrink/shrink-text.js';
import { isShrunk } from '../../../src/shared/shrink/shown-before.js';
import type { ShrinkSettings, ShrunkCall } from '../../../src/shared/shrink/shrink-text.js';
import type { ShownElsewhere } from '../../../src/shared/shrink/shown-before.js';
import { SHRINK_LEVELS } from '../../../src/shared/shrink/shrinker.js';
import type { ShrinkSubject } from '../../../src/shared/shrink/shrinker.js';
import { runs } from '../../support/scale.js';

type Call = Omit<ShrinkSubject, 'level'>;

const COMMAND: Call = { purpose: 'command', command: 'node run.js' };
const BUILD: Call = { purpose: 'command', command: 'cd app && npm run build' };
const SEARCH: Call = { purpose: 'search', command: '' };
const UNKNOWN: Call = { purpose: 'unknown', command: '' };
const FILE = { purpose: undefined, command: '' };

/** The shrunk text; `undefined` if it is unchanged. */
function shrinkText(
  text: string,
  shown: readonly ShownElsewhere[],
  call: ShrunkCall,
  settings: ShrinkSettings,
  ending: string,
): string | undefined {
  const left = shortenedText(text, call, settings, ending);
  return withReferences(text, left, shown, call, ending);
}

/** The shrunk text, without the line about that. */
function left(text: string, call: ShrunkCall, settings: ShrinkSettings): string {
  const shrunk = shrinkText(text, [], call, settings, ']');
  if (shrunk === undefined) return text;
  expect(isShrunk(shrunk)).toBe(true);
  return shrunk.slice(0, shrunk.lastIndexOf('\n'));
}

function linesOf(count: number, line: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => line(at)).join('\n');
}

const WORDS = linesOf(
  30,
  (at) => `${'abcdefghijklmnopqrstuvwxyzABCD'.charAt(at)} is a line of its own`,
);

describe('shortenedText', () => {
  const LOSSLESS: ShrinkSettings = { level: 'lossless' };
  const DEFAULT: ShrinkSettings = { level: 'default' };
  const STRONG: ShrinkSettings = { level: 'strong' };

  it('removes escape codes, and the overwritten states of a line', () => {
    const colored = linesOf(60, (at) => `\u001b[32mpassed\u001b[0m test of kind ${'x'.repeat(at)}`);
    expect(left(colored, COMMAND, LOSSLESS)).toBe(colored.replaceAll(/\u001b\[\d+m/g, ''));
    const states = Array.from({ length: 40 }, (_, at) => `Receiving objects: ${at}%`);
    expect(left(`${WORDS}\n${states.join('\r')}\ndone`, COMMAND, LOSSLESS)).toBe(
      `${WORDS}\nReceiving objects: 39%\ndone`,
    );
    const steps = Array.from({ length: 40 }, (_, at) => `[${at}/40] Building object f${at}.o`);
    expect(left(`${WORDS}\n${steps.join('\r')}\ndone`, COMMAND, LOSSLESS)).toBe(
      `${WORDS}\n[39/40] Building object f39.o\ndone`,
    );
  });

  it.each([
    [
      'the target of a link',
      '\u001b]8;;https://a.b/c\u001b\\d\u001b]8;;\u001b\\',
      '<https://a.b/c>d',
    ],
    ['text after backspaces', 'at 5%\b\b10%\b\b\b20%\b\b\b', 'at 20%'],
    ['whole characters', '😀\bx', 'x'],
    ['bold text of a manual', 'N\bNA\bA', 'NA'],
    [
      'a warning overwritten by progress',
      'at: 5%\rat: warning: old\rat: 9%\rat: 10%',
      'at: warning: old\rat: 10%',
    ],
    ['progress with percentages alone', '5% of a.ts\r10.5% b.ts\r70% c.ts', '70% c.ts'],
    [
      'what follows a percentage',
      '5% of a.ts\rall of it\r7% of b',
      '5% of a.ts\rall of it\r7% of b',
    ],
    ['counts of warnings', 'warnings: 1 of it\rwarnings: 2 of it\rok', 'warnings: 2 of it\rok'],
    ['the last count of failures', 'failed: 1 of it\rfailed: 2 of it\nok', 'failed: 2 of it\nok'],
    ['the newest of failures', 'failed: 1 of it\rfailed: 2 of it', 'failed: 2 of it'],
    ['failures that start alike', 'ERROR in a\rERROR in b\r', 'ERROR in a\rERROR in b\r'],
    ['rows too few to be progress', 'no\rno\rno\r', 'no\rno\rno\r'],
  ])('shows %s', (_, codes, shown) => {
    const text = `${'\u001b[0m'.repeat(30)}${WORDS}\n${codes}`;
    expect(left(text, COMMAND, LOSSLESS)).toBe(`${WORDS}\n${shown}`);
  });

  it.each([
    ['percentages', (at: number) => `${at} | ${(at * 37) % 100} %`],
    ['dates', (at: number) => `${1 + at}/11/2026 10:00 it was ${at * 7}`],
    ['ratios', (at: number) => `case ${at}: ${(at * 37) % 100}/100 were right`],
  ])('keeps rows of %s that go up and down, which are no progress', (_, row) => {
    const rows = `${WORDS}\n${linesOf(30, row)}`;
    expect(left(rows, COMMAND, DEFAULT)).toBe(rows);
    const progress = `${WORDS}\n${linesOf(30, (at) => `copied ${at} % of it`)}`;
    expect(left(progress, COMMAND, LOSSLESS)).toBe(progress);
    expect(left(progress, COMMAND, DEFAULT)).toMatch(
      /\ncopied 0 % of it\n\[… 28 lines like it left out …\]\ncopied 29 % of it$/,
    );
  });

  const numbered = (from: number, lines: readonly string[], delimiter = '\t'): string =>
    lines.map((line, at) => `${String(from + at).padStart(6)}${delimiter}${line}`).join('\n');

  it('removes the spaces before line numbers, of files too, and nothing else of a line', () => {
    const code = fc.array(fc.string({ maxLength: 30 }), { minLength: 60, maxLength: 80 });
    const texts = code.map((lines) => lines.map((line) => line.replaceAll(/[\n\r\b]/g, ' ')));
    fc.assert(
      fc.property(texts, fc.nat(900), fc.constantFrom('\t', '→'), (lines, from, delimiter) => {
        const text = `${numbered(from, lines, delimiter)}\n\n<note>of the tool</note>`;
        const kept = shrinkText(text, [], FILE, LOSSLESS, ']')?.split('\n') ?? [];
        const unpadded = lines.map((line, at) => `${from + at}${delimiter}${line}`);
        expect(kept.slice(0, -1)).toEqual([...unpadded, '', '<note>of the tool</note>']);
        expect(kept.at(-1)).toBe(
          `[Shortened from ${text.length} characters: spaces before line numbers]`,
        );
      }),
      { numRuns: runs(1_000) },
    );
  });

  it.each([': ', '|', ' | '])(
    'removes spaces before a number and "%s" if they align it',
    (delimiter) => {
      const lines = Array.from({ length: 80 }, (_, at) => `const value${at} = call(${at});`);
      const kept = (from: number): string => left(numbered(from, lines, delimiter), FILE, LOSSLESS);
      expect(kept(60)).toBe(lines.map((line, at) => `${60 + at}${delimiter}${line}`).join('\n'));
      // As long as the longest number.
      const narrow = linesOf(1_200, (at) => `${String(at + 1).padStart(4)}${delimiter}end`);
      expect(left(narrow, FILE, LOSSLESS)).toBe(narrow.replaceAll(/^ +/gm, ''));
      // Without a longer number these may be the spaces of a file.
      expect(kept(100)).toBe(numbered(100, lines, delimiter));
    },
  );

  it('keeps numbers that are not line numbers', () => {
    const counts = linesOf(80, (at) => `${String((at * 37) % 991).padStart(7)}\tsrc/a${at}.ts`);
    const ports = linesOf(80, (at) => `  ${at}: http`);
    const stairs = linesOf(80, (at) => `${' '.repeat(1 + (at % 5))}${at}\tstair`);
    for (const text of [counts, ports, stairs]) expect(left(text, UNKNOWN, LOSSLESS)).toBe(text);
  });

  it('keeps Windows line ends and lines that end in a carriage return', () => {
    const windows = linesOf(60, (at) => `line ${at} of a text`).replaceAll('\n', '\r\n');
    expect(left(windows, COMMAND, LOSSLESS)).toBe(windows);
    const mac = WORDS.replaceAll('\n', '\r');
    expect(left(mac, COMMAND, LOSSLESS)).toBe(mac);
    const table = linesOf(60, (at) => `2026-02-11,${at},EUR`).replaceAll('\n', '\r');
    expect(left(table, UNKNOWN, LOSSLESS)).toBe(table);
  });

  it('keeps the last state of progress, even without a line feed behind it', () => {
    const states = linesOf(60, (at) => `Receiving objects: ${at}% (${at}/60)`).replaceAll(
      '\n',
      '\r',
    );
    expect(left(states, COMMAND, LOSSLESS)).toBe('Receiving objects: 59% (59/60)');
    const before = (first: string): string => left(`${first}\r${states}`, COMMAND, LOSSLESS);
    expect(before('a,b,c')).toBe('a,b,c\rReceiving objects: 59% (59/60)');
    const listed = `1,2,3 ${'x'.repeat(400)}`;
    expect(left(`${listed}\r${listed}\n1,2,3`, COMMAND, LOSSLESS)).toBe(`${listed}\n1,2,3`);
  });

  it('keeps one of equal lines, with their number', () => {
    const text = `${WORDS}\n${linesOf(50, () => 'waiting for the server to come up')}\nup`;
    for (const [call, settings] of [
      [UNKNOWN, LOSSLESS],
      [COMMAND, STRONG],
    ] as const) {
      expect(left(text, call, settings)).toBe(
        `${WORDS}\nwaiting for the server to come up\n[… the same line 49 more times left out …]\nup`,
      );
    }
  });

  it('leaves short and very long texts, shrunk ones, those that would hardly be shorter, and most of files', () => {
    const times = (count: number): string => linesOf(count, () => 'the same line');
    const shortenedOf = (text: string, call: ShrunkCall = UNKNOWN): string =>
      shortenedText(text, call, LOSSLESS, ']').draft.text;
    expect(shortenedOf(times(40))).not.toBe(times(40));
    const hardly = `${'x'.repeat(3_000)}\n${times(8)}`;
    const shrunk = `${times(40)}\n[Shortened from 9999 characters: repeated lines]`;
    for (const text of [times(28), times(571_429), hardly, shrunk]) {
      expect(shortenedOf(text)).toBe(text);
    }
    expect(shortenedOf(times(40), FILE)).toBe(times(40));
  });

  it('says whether all text or all values are left, and cuts no table', () => {
    const rows = Array.from({ length: 400 }, (_, id) => ({ id, name: `name ${id}` }));
    const { draft, removed, isWhole } = shortenedText(JSON.stringify(rows), COMMAND, DEFAULT, ']');
    expect(JSON.parse(draft.text)).toHaveProperty('rows.length', rows.length);
    expect([removed.length, isWhole]).toEqual([1, true]);
    const lines = numbered(60, WORDS.split('\n').concat(WORDS.split('\n')));
    expect(shortenedText(lines, FILE, LOSSLESS, ']')).toMatchObject({ isWhole: true });
    const repeated = linesOf(60, () => 'the same again and again');
    expect(shortenedText(repeated, UNKNOWN, LOSSLESS, ']').isWhole).toBe(false);
    const written = shortenedText(
      repeated,
      { ...UNKNOWN, payload: `"${repeated}"` },
      LOSSLESS,
      ']',
    );
    expect(written.removed).toEqual(['texts in JSON on lines of their own', 'repeated lines']);
    expect(shortenedText(WORDS, UNKNOWN, LOSSLESS, ']')).toMatchObject({
      removed: [],
      isWhole: true,
    });
  });

  it('keeps the first and the last of lines that differ in numbers, by default only of a command, and all lines about failures', () => {
    const rows = (word: string): string =>
      linesOf(90, (at) => `${word} ${at} took ${at * 7} units`);
    const kept = left(rows('step'), COMMAND, STRONG).split('\n');
    expect(kept).toHaveLength(4 + 1 + 2);
    expect(kept[4]).toBe('[… 84 lines like it left out …]');
    expect(kept.at(-1)).toBe('step 89 took 623 units');
    expect(left(rows('error'), COMMAND, STRONG)).toBe(rows('error'));
    expect(left(rows('step'), COMMAND, DEFAULT)).toBe(rows('step'));
    const many = linesOf(300, (at) => `step ${at} took ${at * 7} units`);
    expect(left(many, COMMAND, DEFAULT)).toContain('[… 100 lines like it left out …]');
    expect(left(many, UNKNOWN, DEFAULT)).toBe(many);
    expect(left(many, COMMAND, LOSSLESS)).toBe(many);
  });

  it('takes percentages for progress only of a command, and only from its start or to its end', () => {
    const shares = (from: number): string =>
      `${WORDS}\n${linesOf(30, (at) => `share of ${2_000 + at}: ${from + at} %`)}`;
    expect(left(shares(0), UNKNOWN, DEFAULT)).toBe(shares(0));
    expect(left(shares(20), COMMAND, DEFAULT)).toBe(shares(20));
    for (const from of [0, 71]) expect(left(shares(from), COMMAND, DEFAULT)).toContain('left out');
    const counted = `${WORDS}\n${linesOf(30, (at) => `file ${at} is ${at + 11}/40`)}`;
    expect(left(counted, COMMAND, DEFAULT)).toContain('left out');
    expect(left(counted.replaceAll('/40', '/90'), COMMAND, DEFAULT)).toContain('is 25/90');
  });

  it('writes lists of similar objects as tables with the same values', () => {
    const list = Array.from({ length: 30 }, (_, id) => ({
      id,
      name: `name ${id}`,
      isOpen: id % 2 === 0,
    }));
    const table: unknown = JSON.parse(
      left(JSON.stringify({ items: list }, null, 2), UNKNOWN, LOSSLESS),
    );
    expect(table).toEqual({
      items: { columns: ['id', 'name', 'isOpen'], rows: list.map((row) => Object.values(row)) },
    });
  });

  it.each([
    ['a long number', '12345678901234567890'],
    ['a number with a zero at its end', '1.50'],
    ['an escape', '"\\u0041"'],
  ])('keeps JSON in which %s would be written differently', (_, value) => {
    const json = `[\n${linesOf(40, () => `  { "key": ${value} },`)}\n  { "key": ${value} }\n]`;
    expect(left(json, UNKNOWN, { ...LOSSLESS, likeLines: false })).toBe(json);
  });

  it('keeps of a long build the first failures, its head and its tail', () => {
    const step = (at: number): string =>
      `${'abcdefghij'.charAt(at % 10)} compiled ${'m'.repeat(at % 17)}`;
    const lines = Array.from({ length: 400 }, (_, at) => step(at));
    lines[200] = 'src/a.ts(3,1): error TS2304: Cannot find name';
    const text = lines.join('\n');
    const kept = left(text, BUILD, DEFAULT).split('\n');
    expect(kept.slice(0, 15)).toEqual(lines.slice(0, 15));
    expect(kept.slice(-45)).toEqual(lines.slice(-45));
    expect(kept).toEqual(expect.arrayContaining(lines.slice(197, 224)));
    expect(kept).toHaveLength(15 + 1 + 27 + 1 + 45);
    expect(left(text, COMMAND, DEFAULT)).toBe(text);
    expect(left(text, COMMAND, { level: 'strong' })).not.toBe(text);
  });

  it.each([
    ['cargo', 'test error::tests::it_NAME ... ok', 'test parser::nests ... FAILED'],
    [
      'vitest',
      ' ✓ src/a.test.ts > rejects with an error if NAME fails 3ms',
      ' × src/b.test.ts > adds',
    ],
    ['pytest', 'tests/errors/test_a.py::test_NAME PASSED       [ 12%]', 'E       assert 41 == 42'],
    ['javac in Chinese', 'src/error/NAME.java 已编译', 'A.java:3: 错误: 找不到符号'],
    ['gcc in German', 'gcc -Wall -Werror=NAME -c a.c -o a.o', 'a.c:41:9: Fehler: »;« erwartet'],
    ['gcc', 'gcc -Wall -Werror=NAME -c a.c -o a.o', 'b.c:41:9: error: expected ;'],
    ['rspec', '  raises an error when NAME', '  adds (FAILED - 1)'],
  ])(
    'shows the failure that %s reports among many lines that only mention one',
    (_, other, report) => {
      const names = (count: number): string =>
        linesOf(count, (at) => other.replace('NAME', 'abcdefghij'.charAt(at % 10).repeat(at % 17)));
      const text = [names(300), report, names(300)].join('\n');
      for (const level of ['default', 'strong'] as const) {
        expect(left(text, BUILD, { level })).toContain(`\n${report}\n`);
      }
    },
  );

  it('keeps the output of a program and the lists of a build tool', () => {
    const data = linesOf(
      300,
      (at) => `${'abcdefghij'.charAt(at % 10)} item ${'x'.repeat(at % 17)}`,
    );
    const asked = ['bun run list.ts', 'docker compose logs app', 'bazel query //...'];
    const lists = ['pytest --collect-only', 'python3 -m pip list', 'xcodebuild -showsdks'];
    for (const command of [...asked, ...lists]) {
      expect(left(data, { purpose: 'command', command }, DEFAULT)).toBe(data);
    }
    for (const command of ['docker compose up', 'bazel test //...', 'pytest', 'xcodebuild test']) {
      expect(left(data, { purpose: 'command', command }, DEFAULT)).not.toBe(data);
    }
  });

  it('keeps what a command shows of a folder or a package named like a tool', () => {
    const shown = linesOf(300, (at) => `${'abcdefghij'.charAt(at % 10)} ${'x'.repeat(at % 17)}`);
    const commands = ['git log --oneline cypress', 'npm view webpack versions', 'git ls-files tap'];
    for (const command of [...commands, 'cd make && git log']) {
      expect(left(shown, { purpose: 'command', command }, DEFAULT)).toBe(shown);
    }
    for (const command of ['cd cypress && npx cypress run', 'gh run view 9 --log']) {
      expect(left(shown, { purpose: 'command', command }, DEFAULT)).not.toBe(shown);
    }
  });

  it('shows the warnings of a long build, failures first', () => {
    const step = (at: number): string =>
      `${'abcdefghij'.charAt(at % 10)} compiled ${'m'.repeat(at % 17)}`;
    const lines = Array.from({ length: 400 }, (_, at) => step(at));
    lines[150] = 'a.c:1:2: warning: unused variable x';
    expect(left(lines.join('\n'), BUILD, DEFAULT).split('\n')).toEqual([
      ...lines.slice(0, 15),
      '[… 135 lines left out …]',
      lines[150],
      '[… 204 lines left out …]',
      ...lines.slice(-45),
    ]);
    const noisy = lines.map((line, at) => (at < 300 ? `warning: ${line}` : line));
    noisy[320] = 'a.c:3:4: error: expected ;';
    expect(left(noisy.join('\n'), BUILD, DEFAULT)).toContain(`${step(319)}\n${noisy[320]}\n`);
  });

  it('counts a line that only looks like a note about omitted lines as one line', () => {
    const step = (at: number): string =>
      at % 50 === 49
        ? '[… 999999999 lines like it left out …]'
        : `${'abcdefghij'.charAt(at % 10)} compiled ${'m'.repeat(at % 17)}`;
    const built = left(linesOf(400, step), BUILD, DEFAULT).split('\n');
    expect(built).toContain(`[… ${400 - (built.length - 1)} lines left out …]`);
    const found = left(
      linesOf(900, (at) => (at % 7 === 6 ? step(49) : `src/${at}.ts`)),
      SEARCH,
      {
        ...DEFAULT,
        likeLines: false,
      },
    );
    const rest = /\[… (\d+) more lines/.exec(found)?.[1];
    expect(Number(rest)).toBeLessThan(900);
  });

  it('shows failures again between the parts of a run', () => {
    const text = linesOf(60, (at) =>
      at === 30 ? ' FAIL  src/b.test.ts > adds' : `case ${at} of many that ran`,
    );
    const shown = { start: 0, end: 60, source: { callId: 'c', name: 'make' } };
    expect(shrinkText(text, [shown], BUILD, DEFAULT, ']')?.split('\n').slice(0, -1)).toEqual([
      '[… 30 lines as in make …]',
      ' FAIL  src/b.test.ts > adds',
      '[… 29 lines as in make …]',
    ]);
  });

  it('keeps of long lists the first line of each folder or file, with the number of the others', () => {
    const text = linesOf(
      900,
      (at) => `src/${'abc'.charAt(Math.floor(at / 300))}.ts:${at}: const x${at} = y;`,
    );
    const settings = { level: 'default', likeLines: false } as const;
    const kept = left(text, SEARCH, settings).split('\n');
    expect(kept).toHaveLength(3 * (1 + 64 + 1));
    expect(kept[65]).toBe('[… 236 more of these left out …]');
    expect(kept.slice(66, 68)).toEqual(['src/b.ts', ' 300: const x300 = y;']);
    expect(left(text, COMMAND, settings)).toBe(text);
  });

  it('writes the path of several lines once, and nothing else if nothing may be lost', () => {
    const matches = linesOf(40, (at) => `src/deep/folder/file.ts:${at}: match ${'x'.repeat(at)}`);
    expect(left(matches, SEARCH, LOSSLESS).replaceAll(/^ /gm, 'src/deep/folder/file.ts:')).toBe(
      `src/deep/folder/file.ts\n${matches}`,
    );
    const files = linesOf(40, (at) => `/home/user/project/src/file-${at}.ts`);
    expect(left(files, SEARCH, LOSSLESS).replaceAll(/^ /gm, '/home/user/project/src/')).toBe(
      `/home/user/project/src/\n${files}`,
    );
    expect(left(files, COMMAND, LOSSLESS)).toBe(files);
  });

  it('does not take names with numbers and times for matches, and keeps the lines around matches with their files', () => {
    const grouped = (text: string): string[] => left(text, SEARCH, LOSSLESS).split('\n');
    const dated = linesOf(30, (at) => `logs/2026-01-02-a.log:${at}:10:30:00 it ${'x'.repeat(at)}`);
    expect(grouped(dated).slice(0, 2)).toEqual(['logs/2026-01-02-a.log', ' 0:10:30:00 it ']);
    const around = linesOf(30, (at) => `src/a-1-b.ts-${2 * at}-x\nsrc/a-1-b.ts:${2 * at + 1}:y`);
    expect(grouped(around).slice(0, 3)).toEqual(['src/a-1-b.ts', ' -0-x', ' 1:y']);
    const windows = linesOf(30, (at) => `C:\\work\\a.ts:${at}:x`);
    expect(grouped(windows).slice(0, 2)).toEqual(['C:\\work\\a.ts', ' 0:x']);
    const log = linesOf(30, (at) => `2026-01-02T10:${at}:00 error ${'x'.repeat(at)}`);
    expect(left(log, SEARCH, LOSSLESS)).toBe(log);
  });

  it.each(['src/deep/', 'C:\\My files\\deep\\', '/home/My files/'])(
    'writes the folder %s of listed files once',
    (folder) => {
      const names = linesOf(40, (at) => `file${at}.ts`);
      const list = names.replaceAll(/^/gm, folder);
      const written = `${folder}\n${names.replaceAll(/^/gm, ' ')}`;
      expect(left(list, SEARCH, LOSSLESS)).toBe(written);
    },
  );

  it('counts files and folders only if lines have paths', () => {
    const settings = { level: 'default', likeLines: false } as const;
    const matches = linesOf(400, (at) => `${at}: match ${'x'.repeat(at % 7)}`);
    expect(left(matches, SEARCH, settings)).toMatch(/\n\[… 190 more lines left out …\]\n390: /);
    const mixed = linesOf(900, (at) =>
      at % 2 === 0 ? `said ${at}` : `src/${at % 40}.ts:${at}: x`,
    );
    expect(left(mixed, SEARCH, settings)).toContain('more lines, of 20 files or folders, left out');
  });

  it('keeps what follows a long list: totals, that it was cut, and which file has all of it', () => {
    const settings = { level: 'default', likeLines: false } as const;
    const note =
      '\n[Output truncated: 400 of 490 lines]\n\n<note>\nThe full result is saved to /tmp/all.log\n</note>';
    const matches = linesOf(400, (at) => `src/a${at}.ts:${at}: const x${at} = y;`);
    const texts = linesOf(400, (at) => `src/a.ts:const x${at} = y;`);
    const files = linesOf(400, (at) => `src/${at % 7}/a${at}.ts`);
    const counts = linesOf(400, (at) => ` ${at * 7} src/a${at}.ts`);
    for (const list of [matches, texts, files, counts]) {
      for (const behind of [note, '(Results are truncated.)', ' 99999 total']) {
        const kept = left(`${list}\n${behind}`, SEARCH, settings);
        expect(kept.endsWith(`\n${behind}`)).toBe(true);
        expect(kept.split('\n').length).toBeLessThan(220);
      }
    }
  });

  it('removes base64 and minified code, and no ruler', () => {
    const base64 = HOSTILE_TEXTS['base64']?.(9_000) ?? '';
    expect(left(`data: ${base64} end`, UNKNOWN, DEFAULT)).toBe(
      `data: ${base64.slice(0, 48)}[… 8936 characters left out …]${base64.slice(-16)} end`,
    );
    expect(left(base64, UNKNOWN, LOSSLESS)).toBe(base64);
    const minified = HOSTILE_TEXTS['minified JavaScript']?.(9_000) ?? '';
    expect(left(minified, COMMAND, DEFAULT).length).toBeLessThan(1_000);
    expect(left('='.repeat(9_000), UNKNOWN, DEFAULT)).toBe('='.repeat(9_000));
  });

  it('names the original by the id of its call, if it can be recalled', () => {
    const text = linesOf(60, () => 'the same again and again');
    const shrunk = shrinkText(text, [], COMMAND, LOSSLESS, '; recall("call-7") for the original]');
    expect(shrunk?.split('\n').at(-1)).toBe(
      '[Shortened from 1499 characters: repeated lines; recall("call-7") for the original]',
    );
    expect(shrinkText(text, [], COMMAND, LOSSLESS, ']')).toMatch(/: repeated lines\]$/);
  });

  it('shows again what a repeated command reports as failing, and refers to the rest as before', () => {
    const rows = (from: number, count: number): string =>
      linesOf(
        count,
        (at) => ` ✓ src/${'abcdefghij'.charAt((from + at) % 10).repeat(9)}${from + at}`,
      );
    const failing = linesOf(14, (at) => ` FAIL  src/b${at}.test.ts > adds`);
    const text = `${rows(0, 30)}\n${failing}\n${rows(30, 40)}`;
    const source = { callId: 'c1', name: 'bash npm test' };
    const shown = { start: 0, end: 84, source, sourceNumber: 101 };
    const kept = shrinkText(text, [shown], BUILD, DEFAULT, ']')?.split('\n').slice(0, -1);
    expect(kept).toEqual([
      '[… 30 lines as in bash npm test, there lines 101-130 …]',
      ...failing.split('\n').slice(0, 12),
      '[… 42 lines as in bash npm test, there lines 143-184 …]',
    ]);
    const mark = shrinkText(text, [shown], BUILD, DEFAULT, ']')?.split('\n').at(-1);
    expect(mark).toMatch(/: lines of earlier results \(c1\)\]$/);
    const ofTool = shrinkText(text, [shown], UNKNOWN, DEFAULT, ']')?.split('\n')[0];
    expect(ofTool).toBe('[… 84 lines as in bash npm test, there lines 101-184 …]');
  });

  it('runs what is switched on, and nothing that is switched off', () => {
    const text = linesOf(60, () => '\u001b[1mthe same again and again');
    expect(left(text, COMMAND, { level: 'default', likeLines: false })).not.toMatch(
      /left out|\u001b/,
    );
    const all = Object.fromEntries(SHRINKER_NAMES.map((name) => [name, false]));
    expect(left(text, COMMAND, { level: 'strong', ...all })).toBe(text);
    const base64 = HOSTILE_TEXTS['base64']?.(9_000) ?? '';
    expect(left(base64, COMMAND, { level: 'lossless', blobs: true })).not.toBe(base64);
  });

  const anyText = fc
    .array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.constantFrom(
          '\n',
          '\r',
          '\u001b[2K',
          '\u001b]0;x',
          'same line\n',
          '[{"a":1},{"a":2},{"a":3}]',
          '\n./a\n./b\n',
        ),
        fc.nat().map((number) => `step ${number} of it\n`),
        fc.nat(40).map((number) => `${String(number).padStart(6)}→it\n`.repeat(2)),
        fc.nat(40).map((from) => `${numbered(from, ['a', '', 'b', 'c', 'd'])}\n`),
        fc.constantFrom(...Object.values(HOSTILE_TEXTS)).map((make) => make(700)),
      ),
      { maxLength: 60 },
    )
    .map((parts) => parts.join(''));
  const anyCall = fc.constantFrom(COMMAND, BUILD, SEARCH, UNKNOWN);
  const anySettings = fc.record({ level: fc.constantFrom(...SHRINK_LEVELS) });

  it('returns something shorter that it then keeps, or nothing', () => {
    fc.assert(
      fc.property(anyText, anyCall, anySettings, (text, call, settings) => {
        const shrunk = shrinkText(text, [], call, settings, ']');
        if (shrunk === undefined) return;
        expect(shrunk.length).toBeLessThan(text.length);
        expect(shrinkText(shrunk, [], call, settings, ']')).toBeUndefined();
        expect(shrinkText(text, [], call, settings, ']')).toBe(shrunk);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('runs no shrinker in vain', () => {
    fc.assert(
      fc.property(anyText, anyCall, anySettings, (text, call, settings) => {
        for (const only of SHRINKER_NAMES) {
          const others = Object.fromEntries(SHRINKER_NAMES.map((name) => [name, name === only]));
          const { draft, removed } = shortenedText(text, call, { ...settings, ...others }, ']');
          expect(removed).toHaveLength(draft.text === text ? 0 : 1);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('keeps every line in lossless mode, except for codes and repetition', () => {
    const line = fc.stringMatching(/^[a-z]{1,12}(?: [a-z0-9]{1,9}){0,5}$/);
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 30 }), fc.nat(40), (lines, times) => {
        const text = lines.flatMap((each) =>
          Array.from({ length: times + 1 }, () => `\u001b[1m${each}`),
        );
        const kept = new Set(
          left(text.join('\n'), COMMAND, LOSSLESS).replaceAll('\u001b[1m', '').split('\n'),
        );
        for (const each of lines) expect(kept).toContain(each);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
