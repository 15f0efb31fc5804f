// Finds the offset at which a text stops being JSON. JSON.parse reports it for some errors only, and
// differently in each Node version.

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** The characters of a string up to its end, an escape or a control character. */
const PLAIN = /[^"\\\0-\x1f]+/y;
const ESCAPE = /["\\/bfnrt]|u[\da-fA-F]{4}/y;

type Expected =
  'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

/** Returns the offset of the first character that is not valid JSON, or the length if the text is truncated. */
export function jsonErrorOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;
  for (;;) {
    at = endOfMatch(SPACE, text, at) ?? at;
    const character = text[at];
    if (character === undefined) return at;
    const container = open.at(-1);
    const isKey: boolean = expected === 'key' || expected === 'key-or-end';
    const isValue: boolean = expected === 'value' || expected === 'value-or-end';
    if (expected.endsWith('-or-end') && character === (container === '{' ? '}' : ']')) {
      open.pop();
      expected = open.length === 0 ? 'nothing' : 'comma-or-end';
    } else if (expected === 'comma-or-end' && character === ',') {
      expected = container === '{' ? 'key' : 'value';
    } else if (expected === 'colon' && character === ':') {
      expected = 'value';
    } else if (isValue && (character === '{' || character === '[')) {
      open.push(character);
      expected = character === '{' ? 'key-or-end' : 'value-or-end';
    } else {
      if (!isValue && !(isKey && character === '"')) return at;
      const end = endOfScalar(text, at, character);
      if (end.isError) return end.offset;
      at = end.offset;
      expected = isKey ? 'colon' : container === undefined ? 'nothing' : 'comma-or-end';
      continue;
    }
    at += 1;
  }
}

/** Returns the line and column of an offset, both counted from 1. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}

interface End {
  readonly offset: number;
  readonly isError: boolean;
}

function endOfScalar(text: string, start: number, character: string): End {
  if (character === '"') return endOfString(text, start);
  const offset = endOfMatch(SCALAR, text, start);
  return { offset: offset ?? start, isError: offset === undefined };
}

function endOfString(text: string, start: number): End {
  for (let at = start + 1; ;) {
    at = endOfMatch(PLAIN, text, at) ?? at;
    if (text[at] === '"') return { offset: at + 1, isError: false };
    const end = text[at] === '\\' ? endOfMatch(ESCAPE, text, at + 1) : undefined;
    if (end === undefined) return { offset: at, isError: true };
    at = end;
  }
}

function endOfMatch(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
