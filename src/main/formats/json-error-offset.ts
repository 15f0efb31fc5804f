// Finds the offset at which a text stops being JSON. JSON.parse reports it for some errors only, and
// differently in each Node version.

const SPACE = /[\t\n\r ]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /["\\/bfnrt]|u[\da-fA-F]{4}/y;

/** What a text may go on with. */
type Expected =
  'value' | 'first item' | 'next item' | 'first member' | 'next member' | 'key' | 'colon';

/** Returns the offset of the first character that is not valid JSON, or the length if the text is truncated. */
export function jsonErrorOffset(text: string): number {
  /** A stack: what comes first is last. */
  const pending: Expected[] = ['value'];
  for (let at = skipSpace(text, 0); ; at = skipSpace(text, at)) {
    const expected = pending.pop();
    const character = text[at];
    if (character === undefined || expected === undefined) return at;
    const opened = expected === 'value' ? OPENED[character] : undefined;
    const list = LISTS[expected];
    if (opened !== undefined) {
      pending.push(opened);
      at += 1;
    } else if (expected === 'value' || expected === 'key') {
      if (expected === 'key' && character !== '"') return at;
      const end = endOfScalar(text, at, character);
      if (end.isError) return end.offset;
      at = end.offset;
    } else if (list === undefined) {
      if (character !== ':') return at;
      at += 1;
    } else if (character === list.close) at += 1;
    else {
      if (list.needsComma && character !== ',') return at;
      if (list.needsComma) at += 1;
      pending.push(...list.item);
    }
  }
}

/** What comes after a character that opens a list or an object. */
const OPENED: Readonly<Record<string, Expected>> = { '[': 'first item', '{': 'first member' };

interface ListPart {
  /** The character that may end the list here. */
  readonly close: string;
  readonly needsComma: boolean;
  /** What comes if the list does not end, as a stack. */
  readonly item: readonly Expected[];
}

const ITEM = { close: ']', item: ['next item', 'value'] } as const;
const MEMBER = { close: '}', item: ['next member', 'value', 'colon', 'key'] } as const;

const LISTS: Readonly<Partial<Record<Expected, ListPart>>> = {
  'first item': { ...ITEM, needsComma: false },
  'next item': { ...ITEM, needsComma: true },
  'first member': { ...MEMBER, needsComma: false },
  'next member': { ...MEMBER, needsComma: true },
};

function skipSpace(text: string, at: number): number {
  return endOfMatch(SPACE, text, at) ?? at;
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
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '"') return { offset: at + 1, isError: false };
    if (character < ' ') return { offset: at, isError: true };
    if (character === '\\') {
      const end = endOfMatch(ESCAPE, text, at + 1);
      if (end === undefined) return { offset: at, isError: true };
      at = end - 1;
    }
  }
  return { offset: text.length, isError: true };
}

function endOfMatch(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
