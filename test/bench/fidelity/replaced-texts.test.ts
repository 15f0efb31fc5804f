// The texts that calls of each agent's editors replace.

import { describe, expect, it } from 'vitest';
import { replacedTexts } from '../../../bench/fidelity/replaced-texts.js';

const PATCH = `*** Begin Patch
*** Update File: src/a.rs
@@ fn main() {
     let a = 1;
-    let b = "2";
+    let b = 3;

@@
-    old();
*** Add File: src/b.rs
+fresh
*** Update File: src/c.rs
*** Move to: src/d.rs
@@
+only added
@@
 last
*** End Patch`;

const HUNKS = [
  { file: 'src/a.rs', lines: ['let a = 1;', 'let b = "2";'] },
  { file: 'src/a.rs', lines: ['old();'] },
  { file: 'src/c.rs', lines: ['last'] },
];

describe('replacedTexts', () => {
  it('returns the old text of an edit, without indentation and blank lines', () => {
    const edit = { file_path: 'a.ts', old_string: '  one\r\n\n\ttwo ', new_string: 'three' };
    expect(replacedTexts(edit)).toEqual([{ file: 'a.ts', lines: ['one', 'two'] }]);
    expect(replacedTexts({ path: 'b.ts', old_text: 'x', new_text: 'y' })).toEqual([
      { file: 'b.ts', lines: ['x'] },
    ]);
  });

  it('returns nothing if nothing was replaced', () => {
    expect(replacedTexts({ file_path: 'a.ts', old_string: '', new_string: 'x' })).toEqual([]);
    expect(replacedTexts({ file_path: 'a.ts', content: 'x' })).toEqual([]);
    expect(replacedTexts({ command: 'view', path: 'a.ts', old_str: 'x' })).toEqual([]);
    expect(replacedTexts({ search: 'x', path: 'src' })).toEqual([]);
    expect(replacedTexts(null)).toEqual([]);
  });

  it('returns the texts of several edits in a call', () => {
    const edits = [{ old_string: 'one', new_string: '1' }, { old_string: 'two' }, 'odd'];
    expect(replacedTexts({ file_path: 'a.ts', edits })).toEqual([
      { file: 'a.ts', lines: ['one'] },
      { file: 'a.ts', lines: ['two'] },
    ]);
  });

  it('returns the replaced text of an editor with commands', () => {
    const edit = { command: 'str_replace', path: '/a.py', old_str: 'one\ntwo', new_str: '' };
    expect(replacedTexts(edit)).toEqual([{ file: '/a.py', lines: ['one', 'two'] }]);
  });

  it('returns the search text of a replacement', () => {
    const edit = { search: 'one\n  two', replace: '', 'replace-all': false };
    expect(replacedTexts(edit)).toEqual([{ file: '', lines: ['one', 'two'] }]);
  });

  it('returns the search blocks of a diff', () => {
    const diff =
      '<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n------- SEARCH\ntwo\n=======\n2\n+++++++ REPLACE';
    expect(replacedTexts({ path: 'a.ts', diff })).toEqual([
      { file: 'a.ts', lines: ['one'] },
      { file: 'a.ts', lines: ['two'] },
    ]);
  });

  it('returns context and removed lines of each hunk of a patch', () => {
    expect(replacedTexts({ input: PATCH })).toEqual(HUNKS);
    expect(replacedTexts({ command: ['apply_patch', PATCH] })).toEqual(HUNKS);
    expect(replacedTexts({ cmd: `apply_patch <<'EOF'\n${PATCH}\nEOF` })).toEqual(HUNKS);
    expect(replacedTexts(PATCH)).toEqual(HUNKS);
  });

  it('returns the lines of a patch in a string of a script', () => {
    const input = `const patch = ${JSON.stringify(PATCH)};\nawait tools.apply_patch(patch);`;
    expect(replacedTexts({ input })).toEqual(HUNKS);
  });
});
