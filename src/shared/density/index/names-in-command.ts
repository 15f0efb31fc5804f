// Finds file names in the text of a command. First replaces characters that are part of a name only when quoted or escaped, such as
// spaces and brackets, by private-use stand-ins, so that every later step sees a name as one word.

import { opensScript } from './command-programs.js';

/** Maximum number of file names taken from a command. */
export const MAX_FILES = 16;

/** A possible path with backslashes, as on Windows. */
const BACKSLASHED =
  /(?<![\w./\\@%+:$~\p{L}-])(?:[A-Za-z]:|~|[\w.@%+\p{L}][\w.@%+\p{L}\p{M}-]*)(?:\\+(?:\.\.(?=\\)|[\w@%+\p{L}-][\w.@%+\p{L}\p{M}-]*))+/gu;
/** A backslashed path with a drive or an extension. Without either it may be a pattern, such as `a\b`. */
const SURELY_NAME = /^(?:[A-Za-z]:|~)|\.[A-Za-z]\w{0,7}$/;
/** A backslashed path with an extension, as the whole of a quoted text where a name is expected. */
const QUOTED_BACKSLASHED =
  /^(?:[A-Za-z]:)?[^\n"'`|<>;*?{}^$:]*\\[^\n"'`|<>;*?{}^$:]*\.[A-Za-z]\w{0,7}$/;

/** First of the private characters that stand for ASCII ones. */
const STANDING_IN = 0xf800;
const STAND_INS = /[\uF800-\uF87F]/g;
/** Escaped characters that have a special meaning for a shell otherwise. */
const ESCAPED = /\\([ ()[\]&$!#,;=])/g;
/** File names like `[id]`, which web frameworks use for routes. A shell keeps the brackets, because no file matches the pattern. */
const BRACKETED = /(?<=[\w./-])\[{1,2}(?:\.\.\.)?[\w-]{2,}\]{1,2}(?=[./])/g;
const SPECIAL = /[^\w.@%+~/:-]/g;
const QUOTED = /"(?:\\[^]|[^"\\])*"|'[^']*'/g;
/** Matches a quoted text that is a name as a whole: no option, pattern or script. */
const QUOTED_NAME = /^(?!-|[sy]\/)(?=[^]*[./])[^\n"'`|<>;*?{}\\^]+$/u;
/** A quoted text with spaces counts as a name only if it ends in an extension and follows `BEFORE_NAME`. */
const SPACED_NAME = /^[^\s](?:[^]*[^\s])?\.\w{1,8}$/;
const BEFORE_NAME =
  /(?:\b(?:cat|nl|head|tail|sed|less|more|bat|type|gc|perl|tee|(?:Get|Set|Add)-Content|Out-File)\s[^;&|\n]*|>\s*)$/i;
const MAX_BEFORE = 120;

/** Characters of names in any script, including stand-ins. */
const CHARACTER = String.raw`\w@%+\p{L}\p{M}\p{N}\p{Co}\-`;
/** Names with a directory or an extension, unless part of the name is a variable or a pattern, or on another machine. */
const FILE_NAME = new RegExp(
  String.raw`(?<![${CHARACTER}./\\~$*?}\])])(?:(?:~|[A-Za-z]:(?=/))?[${CHARACTER}.]*/[${CHARACTER}./]*|` +
    String.raw`[${CHARACTER}][${CHARACTER}.]*\.[A-Za-z]\w{0,7})(?![./]*[${CHARACTER}($*?{[~])`,
  'gu',
);
/** The target of a redirection. Without a letter it is a number in a comparison. */
const REDIRECTED = new RegExp(
  String.raw`(?<=\s)>>?\s*["']?((?:[A-Za-z]:(?=/))?[${CHARACTER}./~]*[\p{L}\p{Co}][${CHARACTER}./~]*)(?![${CHARACTER}(])`,
  'gu',
);
const REDIRECTS = />\s*$/;
/** Devices, and programs of Windows. */
const NO_TEXT = /^(?:\/dev\/|nul$)|\.exe$/i;
/** A Windows option, such as `/c`. */
const SWITCH = /^\/\w$/;
/** Member access in a script is not a file name. */
const MEMBER = /^(?:r|tools|JSON|console|result|text)\.\w+$/;
/** A `sed` script, which looks like a path. */
const SED_SCRIPT = /^(?:[sy]\/|\/[^/]*\/[a-z]$)/;

/** Returns a command in which each name is one word, with slashes instead of backslashes and stand-ins for quoted characters. */
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

/** Replaces escaped double quotes in a script by single quotes, unless it has single quotes already. */
function inOneKind(script: string): string {
  return script.includes("'") ? script : script.replaceAll(String.raw`\"`, "'");
}

/** Whether the text quoted at `at` is a file name. */
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

/** A name in its original spelling, without stand-ins. */
function asSpelled(name: string): string {
  return name.replaceAll(STAND_INS, (character) =>
    String.fromCharCode(character.charCodeAt(0) - STANDING_IN),
  );
}

/** The distinct file names in a text that `withPlainNames` returned, at most `MAX_FILES`. */
export function filesNamed(text: string): readonly string[] {
  const files = new Set<string>();
  for (const [name] of text.matchAll(FILE_NAME)) {
    if (
      name.startsWith('-') ||
      name.startsWith('//') ||
      NO_TEXT.test(name) ||
      !/[\w\p{L}]/u.test(name)
    )
      continue;
    if (name.endsWith('/') || SWITCH.test(name) || MEMBER.test(name)) continue;
    files.add(asSpelled(name));
    if (files.size === MAX_FILES) break;
  }
  return [...files];
}

/** The file names among the arguments of a program that writes, ignoring its scripts. */
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

const ONE_NAME = new RegExp(String.raw`^(?:[A-Za-z]:)?[${CHARACTER}./~]+$`, 'u');

/** The files that output is redirected to, at most `MAX_FILES`; not devices. */
export function filesWritten(text: string): readonly string[] {
  if (!text.includes('>')) return [];
  const commands = text.replace(QUOTED, (quoted, at: number) =>
    opensScript(text, at) || REDIRECTS.test(text.slice(0, at)) ? quoted : ' ',
  );
  return Array.from(commands.matchAll(REDIRECTED), ([, file = '']) => asSpelled(file))
    .filter((file) => !NO_TEXT.test(file))
    .slice(0, MAX_FILES);
}
