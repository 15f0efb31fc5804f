// The texts that shell commands replace, if the commands contain them.

import { describe, expect, it } from 'vitest';
import { shellEdits } from '../../../bench/fidelity/shell-edits.js';

function linesOf(command: string): readonly (readonly string[])[] {
  return shellEdits(command).map(({ lines }) => lines);
}

describe('shellEdits', () => {
  it.each([
    [String.raw`sed -i 's/old_name(x)/new_name(x)/' src/a.py`, 'old_name(x)'],
    [String.raw`sed -i '25s/def f(self, \*args):/def f(self):/g' src/a.py`, 'def f(self, *args):'],
    [String.raw`sed -i '3,$s#^a/b/c/d/e$#x#' src/a.py`, 'a/b/c/d/e'],
    [String.raw`sed -i.bak -e "s/from os.path/from path/" src/a.py`, 'from os.path'],
    [String.raw`cd /repo && sed -i 's/a\/long\/path/b/' src/a.py && git diff`, 'a/long/path'],
    [String.raw`sed -E -i 's/call\(one, two\)/call()/' src/a.py`, 'call(one, two)'],
  ])('returns the literal pattern of %s', (command, line) => {
    expect(shellEdits(command)).toEqual([{ file: 'src/a.py', lines: [line] }]);
  });

  it.each([
    ['is no replacement', String.raw`sed -i '578,583d' src/a.py`],
    ['matches several texts', String.raw`sed -i 's/old_name.*$/new/' src/a.py`],
    ['matches several texts', String.raw`sed -i 's/old_[a-z]name/new/' src/a.py`],
    ['holds a group', String.raw`sed -i 's/\(old_name\)_x/\1/' src/a.py`],
    ['holds a group', String.raw`sed -i -r 's/(old_name)_x/\1/' src/a.py`],
    ['matches a boundary', String.raw`sed -i 's/\<old_name\>/new_name/' src/a.py`],
    ['is made up by the shell', 'sed -i "s/old_name_$x/new/" src/a.py'],
    ['continues behind its quotes', String.raw`sed -i 's/it'\''s_old_name/x/' src/a.py`],
    ['is one of several', `sed -i -e 's/old_name_1/x/' -e 's/old_name_2/y/' src/a.py`],
    ['goes over many files', `sed -i 's/old_name_1/x/' src/*.py`],
    ['goes over many files', `sed -i 's/old_name_1/x/' $(grep -rl old_name_1 .)`],
    ['only prints', `sed 's/old_name_1/x/' src/a.py`],
    ['only prints', `sed -n 's/old_name_1/x/p' src/a.py`],
    ['is everywhere', `sed -i '134s/)/))/' src/a.py`],
    ['does not end', `sed -i 's/old_name_1`],
  ])('returns nothing if the pattern %s: %s', (_, command) => {
    expect(shellEdits(command)).toEqual([]);
  });

  it('returns the patterns of several commands in a line', () => {
    const command = `sed -i '1s/first_name/x/' a.py && \\\nsed -i '2s/second_name/y/' b.py`;
    expect(shellEdits(command)).toEqual([
      { file: 'a.py', lines: ['first_name'] },
      { file: 'b.py', lines: ['second_name'] },
    ]);
  });

  it('returns the literals that a script replaces in a file that it writes', () => {
    const script = `python3 - <<'EOF'
file_path = 'src/a.py'
text = open(file_path).read()
text = text.replace('it\\'s old,\\n  and older', "new")
text = text.replace("""one
  two three""", 'four')
open(file_path, 'w').write(text)
EOF`;
    expect(shellEdits(script)).toEqual([
      { file: 'src/a.py', lines: ["it's old,", 'and older'] },
      { file: 'src/a.py', lines: ['one', 'two three'] },
    ]);
  });

  it("returns the value of a script's variable once, as a whole", () => {
    const script = (...lines: readonly string[]): string =>
      [...lines, 'p = Path("a.py")', 'p.write_text(p.read_text().replace(old, new))'].join('\n');
    expect(linesOf(script(`old = '''def f():\n    pass'''`))).toEqual([['def f():', 'pass']]);
    expect(linesOf(script(`old = 'some text' + tail`))).toEqual([]);
    expect(linesOf(script(`old = f"some {text}"`))).toEqual([]);
    expect(linesOf(script(`old = 'some text'`, `old = 'other text'`))).toEqual([]);
    expect(linesOf(script())).toEqual([]);
  });

  it('returns nothing for a script that writes no file', () => {
    expect(shellEdits(`python3 -c "print(name.replace('old_name', 'new'))"`)).toEqual([]);
  });
});
