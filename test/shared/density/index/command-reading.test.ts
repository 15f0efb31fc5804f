// Commands as recorded agents ran them, and their use; and texts that are meant to take long.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCommand } from '../../../../src/shared/density/index/command-reading.js';
import type { CommandReading } from '../../../../src/shared/density/index/command-reading.js';
import { runs } from '../../../support/scale.js';

type Kind = CommandReading['kind'];
type Row = readonly [
  command: string,
  kind: Kind,
  files: readonly string[],
  lines?: readonly [first: number, last: number],
];

/** A Codex script that runs a command. */
function script(command: string, directory = '/w'): string {
  return `const r = await tools.exec_command({cmd:${JSON.stringify(command)},"workdir":"${directory}","yield_time_ms":1000}); text(JSON.stringify(r));\n`;
}

const ROWS: readonly Row[] = [
  // Reads of lines, by mini-swe-agent and Codex.
  ["sed -n '745,790p' src/cli/doctor/mod.rs", 'read', ['src/cli/doctor/mod.rs'], [745, 790]],
  ['sed -n 12p a.py', 'read', ['a.py'], [12, 12]],
  ['sed -n 1,5p a.py b.py', 'read', ['a.py', 'b.py']],
  ['echo "sed -n 1,5p a.py"', 'command', ['a.py']],
  ['cat <<E', 'command', []],
  // Not the start of a here-string of PowerShell.
  ['run() { "$@"\n}\ncat src/a.ts', 'read', ['src/a.ts']],
  ['TO="root@"\necho x > b.ts', 'write', ['b.ts']],
  // Options of a script, and of a shell.
  ['./run_tests.sh -k "find user"', 'command', ['./run_tests.sh']],
  ['/bin/bash -l -c "find src"', 'search', ['/bin/bash']],
  [
    "nl -ba sympy/core/numbers.py | sed -n '1270,1280p'",
    'read',
    ['sympy/core/numbers.py'],
    [1270, 1280],
  ],
  ['head -n 50 sympy/sets/sets.py', 'read', ['sympy/sets/sets.py']],
  ['head -20 a.py', 'read', ['a.py']],
  ['cat a.py | head -n 5', 'read', ['a.py']],
  ['nl -ba a.py | head -5', 'read', ['a.py']],
  // Quoted names of Windows.
  [String.raw`Get-Content -Path "src\My Dir\a.ts"`, 'read', ['src/My Dir/a.ts']],
  [String.raw`gc -LiteralPath 'src\[id]\page.tsx'`, 'read', ['src/[id]/page.tsx']],
  [String.raw`cat 'C:\Users\Jo Doe\a.ts'`, 'read', ['C:/Users/Jo Doe/a.ts']],
  [String.raw`Set-Content -Path "src\My Dir\a.ts" -Value "x"`, 'write', ['src/My Dir/a.ts']],
  [String.raw`gc .\src\größe.ts`, 'read', ['./src/größe.ts']],
  [String.raw`cmd /c type src\a.ts`, 'read', ['src/a.ts']],
  [String.raw`rg "foo\.bar" src`, 'search', []],
  // In other places.
  ['docker exec -i web cat /etc/nginx/nginx.conf', 'read', ['/etc/nginx/nginx.conf']],
  ['docker exec "$web" sed -i s/a/b/ /srv/a.py && npm test', 'write', ['/srv/a.py']],
  ['kubectl exec pod/web-1 -- ls /srv/a.d', 'search', ['pod/web-1', '/srv/a.d']],
  ['ssh me@10.0.0.7 cat a.py', 'read', ['a.py']],
  ['docker build -f a.docker . && npm test', 'command', ['a.docker']],
  ['docker logs web | head -5', 'command', []],
  ['docker ps; cat a.py', 'read', ['a.py']],
  // With line numbers printed by the program.
  [`awk '{print NR": "$0}' a.py`, 'read', ['a.py']],
  [`awk '{printf "%5d  %s\\n", FNR, $0}' a.py`, 'read', ['a.py']],
  [`awk '/it/ {print $0}' a.py`, 'command', ['a.py']],
  [`awk '{print $1}' a.txt`, 'command', ['a.txt']],
  // Behind assignments.
  ['A="x y" cat a.py', 'read', ['a.py']],
  ["A=1 B='it is' sed -n 1,20p a.py", 'read', ['a.py'], [1, 20]],
  ['A=1\ncat a.py', 'read', ['a.py']],
  ['A=$(cat b.py | head) sed -i s/a/b/ a.py', 'write', ['a.py']],
  ['env A=\\ x rg it src/a.py', 'search', ['src/a.py']],
  // Several ranges, or unknown lines.
  ["nl -ba xarray/core/merge.py | sed -n '294,298p;312,315p'", 'read', ['xarray/core/merge.py']],
  ["sed -n '1,9p' a.py && sed -n '20,29p' a.py", 'read', ['a.py']],
  ['tail -n 20 a.py', 'read', ['a.py']],
  ['tail -n +100 a.py | head -20', 'read', ['a.py']],
  ["sed -n '100,$p' a.py | head -20", 'read', ['a.py']],
  ['git diff HEAD a.py | head -20', 'read', ['a.py']],
  // Filtered lines are unknown, too.
  ["sed -n '1,400p' a.py | grep import", 'read', ['a.py']],
  ['head -100 a.py | grep import', 'read', ['a.py']],
  ['cat a.py | head -n 50 | wc -l', 'read', ['a.py']],
  ["sed -n '1,9p' a.py || true", 'read', ['a.py'], [1, 9]],
  // Whole files.
  ['cat sphinx/ext/autodoc/__init__.py', 'read', ['sphinx/ext/autodoc/__init__.py']],
  ['  cat a.py\n', 'read', ['a.py']],
  ['nl -ba a.py', 'read', ['a.py']],
  ['/bin/cat a.py', 'read', ['/bin/cat', 'a.py']],
  ['cat a.py b.py', 'read', ['a.py', 'b.py']],
  ['cd /testbed && cat arrow/arrow.py', 'read', ['/testbed/arrow/arrow.py']],
  ['cat /etc/pam.d/sudo', 'read', ['/etc/pam.d/sudo']],
  ['git show HEAD:src/a.ts', 'read', ['src/a.ts']],
  ['git diff -- src/a.ts src/b.ts', 'read', ['src/a.ts', 'src/b.ts']],
  ['ls src && cat src/a.ts', 'read', ['src/a.ts']],
  [script("sed -n '1,240p' src/system/repos.rs"), 'read', ['/w/src/system/repos.rs'], [1, 240]],
  [script("sed -n '1,9p' a.rs && sed -n '3,4p' b.rs"), 'read', ['/w/a.rs', '/w/b.rs']],
  // Programs behind others, and options before the subcommand.
  ['sudo cat /etc/hosts', 'read', ['/etc/hosts']],
  ['LANG=C cat a.py', 'read', ['a.py']],
  ['timeout 10 cat a.py', 'read', ['a.py']],
  ['if [ -f a.py ]; then cat a.py; fi', 'read', ['a.py']],
  ['test -f a.py || cat b.py', 'read', ['a.py', 'b.py']],
  ["find . -name '*.py' -exec cat {} +", 'read', []],
  ['git ls-files | xargs cat', 'read', []],
  ['git --no-pager diff HEAD~1 -- a.py', 'read', ['a.py']],
  ['git -C repo show HEAD:a.py', 'read', ['a.py']],
  ['ssh host "cat /etc/hosts"', 'read', ['/etc/hosts']],
  // Files without a dot or a slash in their names, or with any name.
  ['cat Makefile', 'read', []],
  ['for f in *; do cat "$f"; done', 'read', []],
  ['git diff', 'read', []],
  // Other programs that show files.
  ["awk 'NR>=10 && NR<=40' a.py", 'read', ['a.py']],
  ["sed -En '1,5p' a.py", 'read', ['a.py']],
  ['Get-Content a.ps1', 'read', ['a.ps1']],
  ['cat -n a.py', 'read', ['a.py']],
  ['tail -r a.py', 'read', ['a.py']],
  ['Get-Content a.ps1 -Raw', 'read', ['a.ps1']],
  ['Get-Content -Tail 9 a.ps1', 'read', ['a.ps1']],
  ['Get-Content a.ts | Select-Object -First 50', 'read', ['a.ts']],
  ['gc a.ts | select -Skip 100 -First 50', 'read', ['a.ts']],
  ['gc a.ts | Select-Object -First 50 -Skip 100', 'read', ['a.ts']],
  ['gc a.ts | Select-Object -Last 50', 'read', ['a.ts']],
  // On Windows.
  [String.raw`Get-Content src\a\index.ts`, 'read', ['src/a/index.ts']],
  [String.raw`Get-Content -Raw "C:\w\src\a.ts"`, 'read', ['C:/w/src/a.ts']],
  [String.raw`cat C:/w/a.ts`, 'read', ['C:/w/a.ts']],
  [String.raw`gc ..\..\b.ts; gc .github\ci.yml`, 'read', ['../../b.ts', '.github/ci.yml']],
  [String.raw`cd C:\w; gc src\a.ts`, 'read', ['C:/w/src/a.ts']],
  [String.raw`cd /d D:\w && type a.ts`, 'read', ['D:/w/a.ts']],
  [String.raw`Set-Location -LiteralPath 'C:\my work'; gc a.ts`, 'read', ['C:/my work/a.ts']],
  [String.raw`'x' | Set-Content src\b\index.ts`, 'write', ['src/b/index.ts']],
  [String.raw`echo x > src\b.ts`, 'write', ['src/b.ts']],
  [script(String.raw`gc src\a.ts`, String.raw`C:\\w`), 'read', ['C:/w/src/a.ts']],
  // Patterns that are not names.
  [String.raw`rg "foo\.bar" src`, 'search', []],
  [String.raw`grep -P "a\b|.\d+" a.ts`, 'search', ['a.ts']],
  ['rg -n "" a.py', 'read', ['a.py']],
  ['grep -A 40 "def f" a.py', 'read', ['a.py']],
  // Lines of another program's output are not lines of the file.
  ["git diff a.py | sed -n '1,120p'", 'read', ['a.py']],
  ["cat a.py | grep x | sed -n '1,20p'", 'read', ['a.py']],
  ["cat a.py | sed -n '1,20p'", 'read', ['a.py'], [1, 20]],
  // Words in quotes are not programs unless a shell runs them.
  ['git commit -m "find more, cat less"', 'command', []],
  ['echo "type a name"', 'command', []],
  ["gh pr view --json a --jq '{head: .head}'", 'command', []],
  ['{ cat a.py; }', 'read', ['a.py']],
  // Searches, and mere filters.
  [
    'grep -n "def enet_path" sklearn/linear_model/coordinate_descent.py',
    'search',
    ['sklearn/linear_model/coordinate_descent.py'],
  ],
  ['rg -n "x" src', 'search', []],
  ['find /testbed -type f | sort', 'search', ['/testbed']],
  ['ls -la', 'search', []],
  ['git grep -n x -- a.ts', 'search', ['a.ts']],
  ['cd /testbed && grep -r "x" .', 'search', []],
  ['grep -n x a.ts | head -5', 'search', ['a.ts']],
  ['git ls-files | sort | head -50', 'search', []],
  ['cd /w; echo "== src"; for d in a b; do ls -l $d; done | sort', 'search', []],
  ['find src -name "*.ts" | xargs wc -l', 'search', []],
  ['find . -type f -exec grep -n x {} +', 'search', []],
  [String.raw`grep -n "def it(x, \"a\"; y)" a.py`, 'search', ['a.py']],
  ['ls "$(npm root)" | head -5', 'search', []],
  [`bash -lc "rg -n 'x' src"`, 'search', []],
  // Searches beside programs whose output is not a list.
  [String.raw`bash -lc "grep -rn \"it(\" src; make"`, 'command', []],
  ['cd web && ls && npm run build', 'command', []],
  ['make 2>&1 | tail -50; ls', 'command', []],
  ['grep -rn x src; npm test', 'command', []],
  ['find . -name "*.test.js" | xargs node --test', 'command', []],
  ['for t in $(ls test); do node $t; done', 'command', []],
  ['docker build . && ls', 'command', []],
  ['docker exec web ls src && docker exec web npm test', 'command', []],
  ['npm test 2>&1 | tail -20', 'command', []],
  ['npm test | grep fail', 'command', []],
  // Writes.
  [
    "sed -i '12s,x,y,' django/db/models/constraints.py",
    'write',
    ['django/db/models/constraints.py'],
  ],
  ['perl -pi -e s,x,y, a.py', 'write', ['a.py']],
  [
    "cat <<'EOF' > reproduce.py\nfrom django.db import models.py\nEOF\npython3 reproduce.py",
    'write',
    ['reproduce.py'],
  ],
  ["cat > a.py <<'EOF'\nopen('b.py')\nEOF", 'write', ['a.py']],
  ['echo "__pycache__/" >> .gitignore', 'write', ['.gitignore']],
  ['cd /w && echo x > a.txt', 'write', ['/w/a.txt']],
  ['cd sub && echo x > a.txt', 'write', ['a.txt']],
  ['npm run build > /dev/null', 'command', []],
  ['npm run build 2>/dev/null', 'command', []],
  [script('gh pr view > /tmp/view.json'), 'write', ['/tmp/view.json']],
  ["sed -E -i.bak 's/x/y/' a.py", 'write', ['a.py']],
  ["sed -i 's/old.js/new.js/g' 'src/a.py'", 'write', ['src/a.py']],
  ["sed -i '/x.y/d' a.py", 'write', ['a.py']],
  ["sed -i 's|a/b|c/d|' a.py", 'write', ['a.py']],
  ['cat a.py && sed -i s/x/y/ b.py', 'write', ['b.py']],
  ["perl -0777 -i -pe 's/x/y/' a.py", 'write', ['a.py']],
  ['echo x > Makefile', 'write', ['Makefile']],
  ['(Get-Content a.ps1) | Set-Content b.ps1', 'write', ['b.ps1']],
  ['bash -c "echo x > a.txt"', 'write', ['a.txt']],
  // Comparisons.
  ["awk '$1 > 5 {print}' a.txt", 'command', ['a.txt']],
  ["jq '.[] | select(.n > 3)' a.json", 'command', ['a.json']],
  ['psql -c "select * from t where a > b"', 'command', []],
  ['grep "a > b.ts" x.ts', 'search', ['b.ts', 'x.ts']],
  // Other commands.
  ['python3 reproduce_infinity_ne.py', 'command', ['reproduce_infinity_ne.py']],
  ['rm reproduce.py', 'command', ['reproduce.py']],
  ['git status --short', 'command', []],
  ['pwd', 'command', []],
  ['', 'command', []],
  ['npm install concat', 'command', []],
  ['catalog a.py', 'command', ['a.py']],
  [script('git status -sb'), 'command', []],
  [
    'const r = await tools.write_stdin({session_id:1,chars:""}); text(JSON.stringify(r));',
    'command',
    [],
  ],
];

const PATCH =
  '*** Begin Patch\n*** Update File: src/a.rs\n@@\n cd docs && make\n-x\n*** Add File: b.md\n+y\n*** End Patch';

describe('readCommand', () => {
  it.each(ROWS.map((row) => [row[0], row] as const))('reads %j', (_, row) => {
    const [command, kind, files, lines] = row;
    const { runsOthers: _others, ...reading } = readCommand(command);
    expect(reading).toEqual({
      kind,
      files,
      ...(lines !== undefined && { lines: { first: lines[0], last: lines[1] } }),
    });
  });

  it.each([
    ['cat a.ts && npm publish', true],
    ['docker ps; cat a.py', true],
    ['ssh host "cat /etc/hosts"', false],
    ['bash -lc "cat a.ts"', false],
    ["npm test; bash -c 'cat a.ts'", true],
    ["npm test | bash -c 'cat a.ts'", true],
    ["bash -c 'cat a.ts; npm test'", true],
    ["Set-Location -LiteralPath 'C:\\my work'; gc a.ts", false],
    [script('cat a.ts'), false],
    [script("sed -n '1,240p' a.rs"), false],
    [script('cat a.ts && npm publish'), true],
  ])('knows whether %j runs programs other than readers', (command, runsOthers) => {
    expect(readCommand(command).runsOthers ?? false).toBe(runsOthers);
  });

  it('recognizes a search in a script of an agent', () => {
    expect(readCommand(script('rg -n foo src')).kind).toBe('search');
    expect(readCommand(script('rg -n foo src && npm run build')).kind).toBe('command');
  });

  it('takes the files of a patch from its headers, wherever it is', () => {
    const written = { kind: 'write', files: ['src/a.rs', 'b.md'] };
    expect(readCommand(PATCH)).toEqual(written);
    expect(readCommand(PATCH.replaceAll('\n', '\r\n'))).toEqual(written);
    expect(readCommand(`apply_patch <<'EOF'\n${PATCH}\nEOF`)).toEqual(written);
    expect(
      readCommand(`const patch = ${JSON.stringify(PATCH)};\nawait tools.apply_patch(patch);`),
    ).toEqual(written);
  });

  it('follows a change of directory in front of a patch, but not within it', () => {
    const files = ['/w/src/a.rs', '/w/b.md'];
    expect(readCommand(`cd /w && apply_patch <<'EOF'\n${PATCH}\nEOF`).files).toEqual(files);
    expect(readCommand(PATCH, '/w').files).toEqual(files);
    expect(readCommand(script(`apply_patch <<'EOF'\n${PATCH}\nEOF`)).files).toEqual(files);
  });

  it('resolves relative names against the given directory, and keeps absolute ones', () => {
    expect(readCommand('cat ../a.ts /b.ts', '/w/src').files).toEqual(['/w/a.ts', '/b.ts']);
    expect(readCommand('cd deeper && cat a.ts', '/w').files).toEqual(['/w/deeper/a.ts']);
    expect(readCommand('cd /else && cat a.ts', '/w').files).toEqual(['/else/a.ts']);
  });

  it('names a limited number of files, each once', () => {
    const many = Array.from({ length: 100 }, (_, at) => `f${at}.ts`);
    const { kind, files } = readCommand(`cat ${many.join(' ')}`);
    expect(kind).toBe('read');
    expect(files.length).toBeLessThan(50);
    expect(files).toEqual(many.slice(0, files.length));
    expect(readCommand('cat a.ts a.ts').files).toEqual(['a.ts']);
    const headers = many.map((file) => `*** Add File: ${file}\n`).join('');
    expect(readCommand(`*** Begin Patch\n${headers}`).files.length).toBeLessThan(50);
  });

  it('accepts every text', () => {
    const part = fc.oneof(
      fc.constantFrom(
        ...[
          'cat ',
          'sed -n ',
          "'1,5p' ",
          'head -',
          '| ',
          '&& ',
          '> ',
          '<<EOF\n',
          '"',
          "'",
          '`',
          '\\',
        ],
        ...[
          'a.ts ',
          './',
          '/',
          '..',
          'cd ',
          '\n',
          '\r',
          '\t',
          '\0',
          '😀',
          '\uD83D',
          '99999999999999999999',
        ],
        ...['*** Begin Patch\n', '*** Update File: ', 'workdir:"', '\u2028'],
      ),
      fc.string(),
    );
    const command = fc.array(part, { maxLength: 30, size: 'max' }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(command, fc.option(fc.constant('/w'), { nil: undefined }), (text, directory) => {
        const { runsOthers: _, ...reading } = readCommand(text, directory);
        const { kind, files, lines } = reading;
        if (kind === 'write') expect(files.length).toBeGreaterThan(0);
        if (lines !== undefined) {
          expect([kind, files.length]).toEqual(['read', 1]);
          expect(lines.first).toBeLessThanOrEqual(lines.last);
        }
        const isAbsolute = (file: string): boolean => /^(?:[A-Z]:)?\//i.test(file);
        if (directory !== undefined) expect(files.every(isAbsolute)).toBe(true);
        expect(reading).toEqual({ kind, files, ...(lines && { lines }) });
      }),
      { numRuns: runs(5_000) },
    );
  });

  it.each([
    ...[
      'git -C ',
      'git -C -',
      'sed -n -E ',
      '"\\',
      'A=',
      '\n',
      ' ',
      '\t',
      '"',
      "'",
      '`',
      '/',
      '.',
      'a.',
      '(cat ',
      ' > a',
      '<<',
      ';',
      '\0',
      '😀',
    ],
    ...[
      'sed -n 1',
      'cat -n ',
      '\ncd ',
      'cwd:"',
      'a/',
      '-n ',
      '~',
      '../',
      'a\\',
      'gc a|select -Skip 1 ',
      "sed -n '1,2p' ",
    ],
  ])('reads a megabyte of %j', (piece) => {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const hostile = [
      text,
      `cat ${text}`,
      `${text}cd `,
      `${text}cd |*** Begin Patch`,
      `*** Begin Patch\n${text}`,
      `*** Begin Patch\n${text}cd${text}|`,
      `${text}*** Begin Patch\n*** Add File: ${text}\u2028`,
      `\n${text}cd${text}|*** Begin Patch\n${'*** Add File: '.repeat(60_000)}\u2028`,
    ];
    for (const command of hostile) expect(readCommand(command).files.length).toBeLessThan(50);
  });
});
