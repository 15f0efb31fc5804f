// File names in commands: with spaces, brackets and letters of any script, as shells spell them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { readCommand } from '../../../../src/shared/density/index/command-reading.js';
import { runs } from '../../../support/scale.js';

const LETTERS = ['a', 'Z', '0', '9', '_', 'ü', 'é', '文', '件', 'ж'];
const part = fc
  .tuple(
    fc.constantFrom(...LETTERS),
    fc.array(fc.constantFrom(...LETTERS, ...' ()[]$&#!,=@+-.'.split('')), { maxLength: 8 }),
    fc.constantFrom(...LETTERS),
  )
  .map(([first, inner, last]) => first + inner.join('') + last);
const name = fc
  .tuple(fc.array(part, { maxLength: 3 }), part, fc.constantFrom('.ts', '.md', '.py'))
  .map(([folders, file, extension]) => [...folders, file + extension].join('/'))
  .filter((each) => !/\.\.|\s-|[sy]\//.test(each));

/** Spellings of a name in a shell. */
const SPELLINGS: readonly ((each: string) => string)[] = [
  (each) => `'${each}'`,
  (each) => each.replaceAll(/[^\w./@+\p{L}-]/gu, String.raw`\$&`),
  (each) => (each.includes('$') || each.includes('!') ? `'${each}'` : `"${each}"`),
];

describe('names in commands', () => {
  it('are the files that are read and written, whatever characters they have', () => {
    fc.assert(
      fc.property(name, fc.constantFrom(...SPELLINGS), (each, spell) => {
        const file = `/w/${each}`;
        const spelled = spell(each);
        expect(readCommand(`cat ${spelled}`, '/w')).toEqual({ kind: 'read', files: [file] });
        expect(readCommand(`sed -n '3,9p' ${spelled}`, '/w')).toEqual({
          kind: 'read',
          files: [file],
          lines: { first: 3, last: 9 },
        });
        const written = { kind: 'write', files: [file] };
        expect(readCommand(`sed -i 's/a/b/' ${spelled}`, '/w')).toEqual(written);
        expect(readCommand(`cat > ${spelled} <<'EOF'\nx\nEOF`, '/w')).toEqual(written);
        for (const script of [
          `"cat '${each}'"`,
          String.raw`"cat \"${each}\""`,
          `'cat "${each}"'`,
        ]) {
          const isVariable = each.includes('$') && !script.includes(`'${each}'`);
          const { files } = readCommand(`bash -c ${script}`, '/w');
          if (!isVariable) expect(files).toEqual([file]);
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it.each([
    'cat $DIR/a.ts',
    'cat "$DIR/a.ts"',
    'cat ${DIR}/src/a.ts',
    'cat $(pwd)/a.ts',
    'cat "src/$name.ts"',
    'cat src/a*.ts',
    'cat src/*/a.ts',
    'cat src/{a,b}.ts',
    'cat src/a.ts~',
  ])('are not read from a variable, a pattern or a copy: %s', (command) => {
    expect(readCommand(command, '/w')).toEqual({ kind: 'read', files: [] });
  });

  it.each([
    ['git commit -m "fix src/a.ts"', 'command', ['src/a.ts']],
    ['rg "foo bar" src/a.ts', 'search', ['src/a.ts']],
    ['echo "--- b c.ts"; cat a.ts', 'read', ['c.ts', 'a.ts']],
  ])('are not read from other quotes: %s', (command, kind, files) => {
    expect(readCommand(command)).toMatchObject({ kind, files });
  });
});
