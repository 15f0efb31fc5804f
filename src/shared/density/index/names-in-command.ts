// Finds the names of files in the text of a command. Characters that a name has in quotes or behind backslashes only, as spaces
// and brackets, are replaced first by others that stand for them, so that a name is one word in whatever is done with the text.

import { opensScript } from './command-programs.js';

/** At most so many names are taken. */
export const MAX_FILES = 16;

/** What may be a name as Windows spells it. */
const BACKSLASHED =
  /(?<![\w./\\@%+\p{L}-])(?:[A-Za-z]:|[\w.@%+\p{L}][\w.@%+\p{L}\p{M}-]*)(?:\\+(?:\.\.(?=\\)|[\w@%+\p{L}-][\w.@%+\p{L}\p{M}-]*))+/gu;
/** Without a drive or an extension it may be a pattern, such as `a\b`. */
const SURELY_NAME = /^[A-Za-z]:|\.[A-Za-z]\w{0,7}$/;
/** The same in quotes, where a name is expected. */
const QUOTED_BACKSLASHED =
  /^(?:[A-Za-z]:)?[^\n"'`|<>;*?{}^$:]*\\[^\n"'`|<>;*?{}^$:]*\.[A-Za-z]\w{0,7}$/;

/** First of the private characters that stand for ASCII ones. */
const STANDING_IN = 0xf800;
const STAND_INS = /[\uF800-\uF87F]/g;
/** What shells take for something else in a name, unless it is quoted. */
const ESCAPED = /\\([ ()[\]&$!#,;=])/g;
/** Routes of web frameworks have such names; a shell leaves them alone, as no file matches. */
const BRACKETED = /(?<=[\w./-])\[{1,2}(?:\.\.\.)?[\w-]{2,}\]{1,2}(?=[./])/g;
const SPECIAL = /[^\w.@%+~/:-]/g;
const QUOTED = /"(?:\\[^]|[^"\\])*"|'[^']*'/g;
/** The whole of a quoted text is a name: no option, pattern, script or variable. */
const QUOTED_NAME = /^(?!-|[sy]\/)(?=[^]*[./])[^\n"'`|<>;*?{}\\^]+$/u;
/** With a space in it, a name is expected there, and ends as one. */
const SPACED_NAME = /^[^\s](?:[^]*[^\s])?\.\w{1,8}$/;
const BEFORE_NAME =
  /(?:\b(?:cat|nl|head|tail|sed|less|more|bat|type|gc|perl|tee|(?:Get|Set)-Content)\s[^;&|\n]*|>\s*)$/i;
const MAX_BEFORE = 120;

/** Characters of names, of any script. */
const CHARACTER = String.raw`\w@%+\p{L}\p{M}\p{N}\p{Co}\-`;
/** Names with a directory or an extension. Nothing that a variable or a pattern stands for a part of. */
const FILE_NAME = new RegExp(
  String.raw`(?<![${CHARACTER}./~$*?}\])])(?:(?:~|[A-Za-z]:(?=/))?[${CHARACTER}.]*/[${CHARACTER}./]*|` +
    String.raw`[${CHARACTER}][${CHARACTER}.]*\.[A-Za-z]\w{0,7})(?![./]*[${CHARACTER}($*?{[~])`,
  'gu',
);
/** A target without a letter is a number that something is compared with. */
const REDIRECTED = new RegExp(
  String.raw`(?<=\s)>>?\s*["']?([${CHARACTER}./~]*[\p{L}\p{Co}][${CHARACTER}./~]*)(?![${CHARACTER}(])`,
  'gu',
);
const REDIRECTS = />\s*$/;
/** An option of Windows, such as `/c`. */
const SWITCH = /^\/\w$/;
/** Member access in a script is not a file name. */
const MEMBER = /^(?:r|tools|JSON|console|result|text)\.\w+$/;
/** What `sed` is to do, which looks like a path. */
const SED_SCRIPT = /^(?:[sy]\/|\/[^/]*\/[a-z]$)/;

/** Returns a command with each name as one word: with slashes, and with stand-ins for what is quoted in it. */
export function withPlainNames(command: string): string {
  let text = command;
  if (text.includes('\\')) {
    text = text
      .replace(QUOTED, (quoted, at: number) => {
        const isWindows =
          QUOTED_BACKSLASHED.test(quoted.slice(1, -1)) && BEFORE_NAME.test(before(text, at));
        return isWindows ? quoted.replaceAll(/\\+/g, '/') : quoted;
      })
      .replace(BACKSLASHED, (name) =>
        SURELY_NAME.test(name) ? name.replaceAll(/\\+/g, '/') : name,
      )
      .replace(ESCAPED, (_, character: string) => standIn(character));
  }
  if (text.includes('[')) text = text.replace(BRACKETED, withStandIns);
  if (!/["']/.test(text)) return text;
  return text.replace(QUOTED, (quoted, at: number) => {
    const quote = quoted.charAt(0);
    const inner = quoted.slice(1, -1);
    if (opensScript(text, at)) return `${quote}${withPlainNames(inOneKind(inner))}${quote}`;
    return isName(inner, quote, text, at) ? `${quote}${withStandIns(inner)}${quote}` : quoted;
  });
}

/** A script with quotes that need no escapes in it, if it has others only. */
function inOneKind(script: string): string {
  return script.includes("'") ? script : script.replaceAll(String.raw`\"`, "'");
}

/** Whether what is quoted at `at` is a name. */
function isName(inner: string, quote: string, text: string, at: number): boolean {
  if (!QUOTED_NAME.test(inner) || (quote === '"' && inner.includes('$'))) return false;
  if (!/\s/.test(inner)) return true;
  return SPACED_NAME.test(inner) && BEFORE_NAME.test(before(text, at));
}

function before(text: string, at: number): string {
  return text.slice(Math.max(0, at - MAX_BEFORE), at);
}

function withStandIns(name: string): string {
  return name.replaceAll(SPECIAL, standIn);
}

function standIn(character: string): string {
  const code = character.charCodeAt(0);
  return code < 128 ? String.fromCharCode(STANDING_IN + code) : character;
}

/** A name as it is spelled. */
function asSpelled(name: string): string {
  return name.replaceAll(STAND_INS, (character) =>
    String.fromCharCode(character.charCodeAt(0) - STANDING_IN),
  );
}

/** The names in a text of `withPlainNames`. */
export function filesNamed(text: string): readonly string[] {
  const files = new Set<string>();
  for (const [name] of text.matchAll(FILE_NAME)) {
    if (
      name.startsWith('-') ||
      name.startsWith('//') ||
      name.startsWith('/dev/') ||
      !/[\w\p{L}]/u.test(name)
    )
      continue;
    if (name.endsWith('/') || SWITCH.test(name) || MEMBER.test(name)) continue;
    files.add(asSpelled(name));
    if (files.size === MAX_FILES) break;
  }
  return [...files];
}

/** The names behind a program that writes, without what it is to do. */
export function filesBehind(words: string): readonly string[] {
  const plain = words.replace(QUOTED, (quoted) => (isOneName(quoted.slice(1, -1)) ? quoted : ' '));
  const names = plain
    .replaceAll(/["']/g, ' ')
    .split(' ')
    .filter((word) => !SED_SCRIPT.test(word))
    .join(' ');
  return filesNamed(names);
}

function isOneName(text: string): boolean {
  return /[./]/.test(text) && !SED_SCRIPT.test(text) && ONE_NAME.test(text);
}

const ONE_NAME = new RegExp(String.raw`^[${CHARACTER}./~]+$`, 'u');

/** The names that output is redirected to. */
export function filesWritten(text: string): readonly string[] {
  if (!text.includes('>')) return [];
  const commands = text.replace(QUOTED, (quoted, at: number) =>
    opensScript(text, at) || REDIRECTS.test(text.slice(0, at)) ? quoted : ' ',
  );
  return Array.from(commands.matchAll(REDIRECTED), ([, file = '']) => asSpelled(file))
    .filter((file) => !file.startsWith('/dev/'))
    .slice(0, MAX_FILES);
}
