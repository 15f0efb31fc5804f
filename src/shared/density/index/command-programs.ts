// Which programs a shell command runs, and what those are for: to read files, write files or search.
// Knows the few programs that agents use for that.

/** What a program is for. */
export type Purpose = 'read' | 'write' | 'search';

/** Programs by purpose, in lower case. The tests of `DECIDED_BY_WORDS` decide about others. */
const PURPOSES: ReadonlyMap<string, Purpose> = new Map([
  ...['cat', 'nl', 'bat', 'batcat', 'less', 'more', 'head', 'tail', 'get-content', 'gc'].map(
    (program) => [program, 'read'] as const,
  ),
  ['type', 'read'],
  ...['set-content', 'add-content', 'out-file'].map((program) => [program, 'write'] as const),
  ...['ag', 'find', 'fd', 'ls', 'tree', 'dir', 'findstr', 'select-string', 'get-childitem'].map(
    (program) => [program, 'search'] as const,
  ),
]);
/** Matches of everything, or many lines around each, show a file rather than find something in it. */
const GREP: readonly (readonly [RegExp, Purpose])[] = [
  [
    /\s(?:-[ABC] *|--(?:after-|before-)?context[ =])\d\d|\s(?:""|''|(["'])(?:\^|\.\*?)\1)\s/,
    'read',
  ],
  [/(?:)/, 'search'],
];
/** Programs whose purpose depends on what follows them; the first match counts. */
const DECIDED_BY_WORDS: ReadonlyMap<string, readonly (readonly [RegExp, Purpose])[]> = new Map([
  [
    'sed',
    [
      [/\s(?:-[nErsuz]*i|--in-place)/, 'write'],
      [/\s(?:-[Ersuz]*n|--quiet|--silent)/, 'read'],
    ],
  ],
  [
    'perl',
    [
      [/\s-[0-9aelnpw]*i/, 'write'],
      [/\s-[0-9aelw]*n/, 'read'],
    ],
  ],
  ['ruby', [[/\s-[0-9aelnpw]*i/, 'write']]],
  ['awk', [[/\bNR *[<>=%]|^\s*(?:-\S+\s+)*(["'])\s*\{[^{}]*\$0[^{}]*\}\s*\1/, 'read']]],
  [
    'git',
    [
      [/^(?:\s+-[cC]\s+[^\s-]\S*|\s+-[\w-]+)*\s+(?:diff|show|blame|cat-file)\b/, 'read'],
      [/^(?:\s+-[cC]\s+[^\s-]\S*|\s+-[\w-]+)*\s+grep\b/, 'search'],
    ],
  ],
  ...['rg', 'grep', 'egrep', 'fgrep'].map((program) => [program, GREP] as const),
]);
/** What may stand in front of the program. */
const CARRIERS: ReadonlySet<string> = new Set([
  ...['sudo', 'time', 'timeout', 'command', 'env', 'nice', 'nohup', 'if', 'then', 'do', 'else'],
  ...['cmd', '/c', '/k'],
]);
/** These run a program elsewhere, whose name stands behind others. */
const REMOTE: ReadonlySet<string> = new Set(['docker', 'podman', 'kubectl', 'ssh', 'wsl']);
/** These start a program anywhere. */
const STARTERS: ReadonlySet<string> = new Set(['xargs', '-exec', '-execdir']);

/** Only so much behind a program tells its purpose. */
const MAX_WORDS = 400;

/**
 * The strongest purpose of its programs: write, then read, then search; and the rest of the command
 * of the one that writes.
 */
export function purposeOf(text: string): readonly [purpose: Purpose | undefined, words: string] {
  let found: Purpose | undefined;
  let isStart = true;
  let isPiped = false;
  let isRemote = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    if (isWordCharacter(character)) {
      const end = wordEnd(text, at);
      const word = text.slice(at, end);
      if (isStart && text.charCodeAt(end) === ASSIGNED) {
        at = valueEnd(text, end);
        continue;
      }
      if (STARTERS.has(word)) isStart = true;
      else if ((isStart || isPiped) && !leadsOn(word)) {
        const words = wordsBehind(text, end);
        const purpose = purposeOfProgram(word, words);
        if (purpose === 'write') return [purpose, words];
        if (isStart && (purpose === 'read' || found === undefined)) found = purpose ?? found;
        isRemote = isStart && purpose === undefined && (isRemote || REMOTE.has(word));
        isStart = isRemote;
        isPiped = false;
      }
      at = end - 1;
    } else if (STARTING.has(character) || (isQuote(character) && opensScript(text, at))) {
      isStart = true;
      isRemote = false;
    } else if (character === BRACE) isStart = isSpace(text.charCodeAt(at + 1));
    else if (character === PIPE) {
      // After a pipe, a program filters, or writes what it is given.
      isStart = text.charCodeAt(at + 1) === PIPE;
      isPiped = !isStart;
      isRemote = false;
      if (isStart) at += 1;
    } else if (!isSpace(character)) {
      isStart = isRemote;
      isPiped = false;
    }
  }
  return [found, ''];
}

/** A program may follow these, but not a pipe, behind which it only filters. */
const STARTING: ReadonlySet<number> = new Set(
  Array.from('\n&(;`', (character) => character.charCodeAt(0)),
);
const PIPE = 124;
/** Opens a group of commands if a space follows; otherwise an object. */
const BRACE = 123;
const ASSIGNED = 61;

/** Whether the program is still to come: behind `sudo -u 1`, `timeout 10` or `A=1`. */
function leadsOn(word: string): boolean {
  return CARRIERS.has(word) || /^[-\d]/.test(word);
}

function purposeOfProgram(word: string, words: string): Purpose | undefined {
  const name = word.slice(word.lastIndexOf('/') + 1).toLowerCase();
  const tests = DECIDED_BY_WORDS.get(name);
  return tests === undefined
    ? PURPOSES.get(name)
    : tests.find(([pattern]) => pattern.test(words))?.[1];
}

const UP_TO_NEXT = /^(?:"(?:\\[^]|[^"\\])*"|'[^']*'|[^;&|\n"'])*/;

/** What stands behind a program, up to the next one. */
function wordsBehind(text: string, start: number): string {
  return UP_TO_NEXT.exec(text.slice(start, start + MAX_WORDS))?.[0] ?? '';
}

/** A value that is assigned in front of a program: what is quoted in it, or what a command prints, may hold spaces. */
const VALUE = /(?:"(?:\\[^]|[^"\\])*"|'[^']*'|\$\([^()]*\)|\\[^]|[^\s"'\\;&|])*/y;

/** The last character of the value that is assigned at `start`, where the sign is. */
function valueEnd(text: string, start: number): number {
  VALUE.lastIndex = start + 1;
  VALUE.test(text);
  return Math.max(start, VALUE.lastIndex - 1);
}

function wordEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && isWordCharacter(text.charCodeAt(end))) end += 1;
  return end;
}

/** Letters, digits, and characters of names, paths and options. */
function isWordCharacter(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 45 && code <= 57) ||
    code === 95
  );
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39;
}

/** What precedes a script in quotes. */
const BEFORE_SCRIPT =
  /(?:sh(?:\.exe)?(?:\s+-\w+)+|\bsu(?:\s+[\w-]+)*\s+-c|\beval|\bssh\s+\S+|powershell(?:\.exe)?(?:\s+-\w+)+|[:(])\s*\\*$/i;
const MAX_BEFORE = 60;

/** Whether the quote at `at` opens a script for a shell; other quoted text is data. */
export function opensScript(text: string, at: number): boolean {
  return at === 0 || BEFORE_SCRIPT.test(text.slice(Math.max(0, at - MAX_BEFORE), at));
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}
