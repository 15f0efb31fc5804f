// Determines which programs a shell command runs and whether they read files, write files or search.
// Knows only the few programs that agents use for these purposes.

import { wordList, wordSet } from '../../word-lists.js';

/** What a program is for. */
export type Purpose = 'read' | 'write' | 'search';

/** Programs whose arguments do not matter, in lower case. */
const PURPOSES: ReadonlyMap<string, Purpose> = new Map([
  ...namesOf('read', 'cat nl bat batcat less more head tail type get-content gc'),
  ...namesOf('write', 'set-content add-content out-file'),
  ...namesOf('search', 'ag find fd ls tree dir findstr select-string get-childitem gci'),
  ...namesOf('search', 'rg grep egrep fgrep'),
]);

function namesOf(purpose: Purpose, programs: string): readonly (readonly [string, Purpose])[] {
  return wordList(programs).map((program) => [program, purpose]);
}

/** A search for every line, or with 10 or more lines of context, shows a file rather than searches it. */
const SHOWS_ALL =
  /\s(?:-[ABC] *|--(?:after-|before-)?context[ =])\d\d|\s(?:""|''|(["'])(?:\^|\.\*?)\1)\s/;
/** What arguments make of a program; the first pattern that matches them counts. */
const DECIDED_BY_WORDS: readonly (readonly [program: RegExp, words: RegExp, purpose: Purpose])[] = [
  [/^sed$/, /\s(?:-[nErsuz]*i|--in-place)/, 'write'],
  [/^sed$/, /\s(?:-[Ersuz]*n|--quiet|--silent)/, 'read'],
  [/^(?:perl|ruby)$/, /\s-[0-9aelnpw]*i/, 'write'],
  [/^perl$/, /\s-[0-9aelw]*n/, 'read'],
  [/^awk$/, /\bNR *[<>=%]|^\s*(?:-\S+\s+)*(["'])\s*\{[^{}]*\$0[^{}]*\}\s*\1/, 'read'],
  [/^git$/, ofGit('diff|show|blame|cat-file'), 'read'],
  [/^git$/, ofGit('grep|ls-files|ls-tree'), 'search'],
  [/^(?:rg|[ef]?grep)$/, SHOWS_ALL, 'read'],
];

/** Matches the arguments of `git` with one of these subcommands, which options may precede. */
function ofGit(subcommands: string): RegExp {
  return new RegExp(String.raw`^(?:\s+-[cC]\s+[^\s-]\S*|\s+-[\w-]+)*\s+(?:${subcommands})\b`);
}

/** Words that may precede a program's name: wrappers and shell keywords. */
const WRAPPERS = wordSet('sudo time timeout command env nice nohup if then do else cmd');
/** These run a program elsewhere; its name comes after other words, such as a host or a container. */
const REMOTE = wordSet('docker podman kubectl ssh wsl');
/** These start another program wherever they appear in a command. */
const STARTERS = wordSet('xargs -exec -execdir');

/** Programs and words of a shell or a script that print little or only filter, so that a search next to them is still one. */
const QUIET = wordSet(
  'cd set-location push-location pop-location pushd popd pwd echo printf export set true test exit sort uniq wc cut tr column stat file ' +
    'which basename dirname for while in read done fi const let await return',
);

/** How much text after a program's name is searched for its purpose, in UTF-16 units. */
const MAX_WORDS = 400;

/** What the programs of a command are for. */
interface CommandPurpose {
  /** The strongest of their purposes: write before read before search. */
  readonly purpose?: Purpose | undefined;
  /** The arguments of the program that writes. */
  readonly words?: string;
  /** Whether others run next to those that read or search, such as a build. */
  readonly runsOthers?: boolean;
}

/**
 * Returns what the programs of a command are for. A search is the purpose only if nothing else runs: the output is no list
 * otherwise.
 */
export function purposeOf(text: string): CommandPurpose {
  return new ProgramScan(text).purpose();
}

/** Where a word stands: where a program starts, after a pipe, or among the arguments of a program. */
type Position = 'start' | 'piped' | 'argument';

/** Walks over the words and signs of a command. */
class ProgramScan {
  readonly #text: string;
  #position: Position = 'start';
  /** Whether the program that a remote one runs is still to come. */
  #isRemote = false;
  /** The end of the last quoted text that is data, in which nothing runs. */
  #quoteEnd = -1;
  #found: Purpose | undefined;
  /** Number of programs that neither read nor search. */
  #others = 0;
  /** How many there were before the current program. */
  #othersBefore = 0;

  constructor(text: string) {
    this.#text = text;
  }

  purpose(): CommandPurpose {
    const text = this.#text;
    for (let at = 0; at < text.length;) {
      const end = endOfMatch(WORD, text, at);
      if (end === at) at = this.#takeSign(at);
      else if (this.#position === 'start' && text[end] === '=')
        at = endOfMatch(VALUE, text, end + 1);
      else {
        const written = this.#takeWord(at, end);
        if (written !== undefined) return written;
        at = end;
      }
    }
    const runsOthers = this.#others > 0;
    const isNoList = this.#found === 'search' && runsOthers;
    return { purpose: isNoList ? undefined : this.#found, runsOthers };
  }

  /** Takes a word. Returns the purpose of the command if the word is a program that writes: no other one is stronger. */
  #takeWord(start: number, end: number): CommandPurpose | undefined {
    const word = this.#text.slice(start, end);
    if (STARTERS.has(word)) {
      this.#position = 'start';
      return undefined;
    }
    if (this.#position === 'argument' || precedesProgram(word)) return undefined;
    const words = argumentsBehind(this.#text, end);
    const purpose = purposeOfProgram(word, words);
    if (purpose === 'write') return { purpose, words };
    // A program after a pipe only filters, unless it writes its input somewhere.
    if (this.#position === 'start') this.#takeProgram(word, start, purpose);
    this.#takeArgument();
    return undefined;
  }

  #takeProgram(word: string, start: number, purpose: 'read' | 'search' | undefined): void {
    if (purpose === 'read') this.#found = purpose;
    else this.#found ??= purpose;
    if (purpose === undefined) {
      const isOther = !this.#isRemote && start > this.#quoteEnd;
      if (isOther && !isQuiet(this.#text, start, start + word.length)) this.#others += 1;
      this.#isRemote ||= REMOTE.has(nameOfProgram(word));
      return;
    }
    // What runs there is known now, so the program that starts it does not count.
    if (this.#isRemote) this.#others -= 1;
    this.#isRemote = false;
  }

  /** Goes on with the arguments of a program. Any of those of a remote one may be the program that it runs. */
  #takeArgument(): void {
    this.#position = this.#isRemote ? 'start' : 'argument';
  }

  /** Takes a character that belongs to no word. Returns the index after it, or after the sign that it begins. */
  #takeSign(at: number): number {
    const text = this.#text;
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    const assigned = this.#position === 'start' ? endOfMatch(ASSIGNMENT, text, at) : at;
    if (assigned > at) return assigned;
    if (character === '"' || character === "'") this.#takeQuote(at);
    else if (STARTING.includes(character)) this.#begin('start');
    else if (character === '|') {
      this.#begin(next === '|' ? 'start' : 'piped');
      if (next === '|') return at + 2;
    } else if (character === '{') {
      // Opens a command group if a space follows, otherwise an object.
      if (isSpace(next)) this.#position = 'start';
      else if (this.#position === 'start') this.#position = 'argument';
    } else if (!isSpace(character)) this.#takeArgument();
    return at + 1;
  }

  #takeQuote(at: number): void {
    if (opensScript(this.#text, at)) {
      // A shell does not count beside the script that it runs.
      if (isRunByShell(this.#text, at)) this.#others = this.#othersBefore;
      this.#position = 'start';
      this.#isRemote = false;
      return;
    }
    if (at > this.#quoteEnd) this.#quoteEnd = endOfQuote(this.#text, at);
    this.#takeArgument();
  }

  /** Goes on with the next program. */
  #begin(position: 'start' | 'piped'): void {
    this.#othersBefore = this.#others;
    this.#position = position;
    this.#isRemote = false;
  }
}

/** Text directly before a word that runs nothing: a command substitution, a function's argument, or a member that is no command. */
const BEFORE_ARGUMENT = /(?:[\w$]\(|`|(?<!\b(?:cmd|command|script)\\*["']?\s*):\s*\\*["'])$/i;

/** Whether a word that starts a command is a quiet program, an argument, or a function of a script. */
function isQuiet(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - MAX_BEFORE), start);
  return (
    BEFORE_ARGUMENT.test(before) ||
    text.startsWith('(', end) ||
    QUIET.has(nameOfProgram(text.slice(start, end)))
  );
}

/** The index of the quote that ends the text which the quote at `start` begins. An escaped one ends at an escaped one. */
function endOfQuote(text: string, start: number): number {
  const quote = text.charAt(start);
  const isEscaped = text.startsWith('\\', start - 1);
  let end = text.indexOf(quote, start + 1);
  while (end !== -1 && quote === '"' && text.startsWith('\\', end - 1) !== isEscaped) {
    end = text.indexOf(quote, end + 1);
  }
  return end === -1 ? text.length : end;
}

/** After these characters a new program may start. Not after a pipe, where it only filters. */
const STARTING = '\n&(;`';

/** Whether a word only precedes the program's name, as all words of `sudo -u 1`, `timeout 10` and `cmd /c` do. */
function precedesProgram(word: string): boolean {
  return WRAPPERS.has(nameOfProgram(word)) || /^(?:[-\d]|\/\w$)/.test(word);
}

/** The name of a program in lower case, without its folder and the extension that it has on Windows. */
function nameOfProgram(word: string): string {
  const name = word.slice(word.lastIndexOf('/') + 1).toLowerCase();
  return name.endsWith('.exe') ? name.slice(0, -'.exe'.length) : name;
}

function purposeOfProgram(word: string, words: string): Purpose | undefined {
  const name = nameOfProgram(word);
  const decided = DECIDED_BY_WORDS.find(
    ([program, pattern]) => program.test(name) && pattern.test(words),
  );
  return decided?.[2] ?? PURPOSES.get(name);
}

const ARGUMENTS = /^(?:"(?:\\[^]|[^"\\])*"|'[^']*'|[^;&|\n"'])*/;

/** The arguments of a program: the text up to the next program, at most `MAX_WORDS` units. */
function argumentsBehind(text: string, start: number): string {
  return ARGUMENTS.exec(text.slice(start, start + MAX_WORDS))?.[0] ?? '';
}

/** The value of an assignment before a program. Quoted parts and command substitutions may contain spaces. */
const VALUE = /(?:"(?:\\[^]|[^"\\])*"|'[^']*'|\$\([^()]*\)|\\[^]|[^\s"'\\;&|])*/y;

/** The start of a PowerShell statement that assigns what a program prints. */
const ASSIGNMENT = /\$[\w:.]+[ \t]*\+?=(?!=)/y;
/** Letters, digits, and characters of names, paths and options. */
const WORD = /[\w./-]+/y;

/** The index after what a sticky pattern matches at `at`; `at` if that is nothing. */
function endOfMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Text directly before a quote that opens a script, such as `bash -c` or `eval`. */
const BEFORE_SCRIPT =
  /(?:\b(?<!\.)\w*sh(?:\.exe)?(?:\s+-\w+)+|\bsu(?:\s+[\w-]+)*\s+-c|\beval|\bssh\s+\S+|powershell(?:\.exe)?(?:\s+-\w+)+|\s-Command|\bcmd(?:\.exe)?(?:\s+\/\w)+|[:(])\s*\\*$/i;
const MAX_BEFORE = 60;

/** Whether the quote at `at` opens a script for a shell; other quoted text is data. */
export function opensScript(text: string, at: number): boolean {
  return at === 0 || BEFORE_SCRIPT.test(text.slice(Math.max(0, at - MAX_BEFORE), at));
}

/** Whether the script at `at` is an argument of a program rather than a value in another script. */
function isRunByShell(text: string, at: number): boolean {
  return /\w\s*\\*$/.test(text.slice(Math.max(0, at - MAX_BEFORE), at));
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}
