// Output of commands: reports on stdout, messages on stderr, both wrapped to the terminal's width.

import { inspect, stripVTControlCharacters } from 'node:util';
import { outputWidth, widthOf } from './terminal-layout.js';
import { printable, printableLines } from './terminal-text.js';
import { columnsOf, wrap } from './text-layout.js';

/** The file name that stands for stdin as input and for stdout as output. */
export const STANDARD_STREAM = '-';

/** Prints text for a person on stdout. */
export function printText(text: string): void {
  process.stdout.write(fitLines(text, outputWidth()));
}

/** Prints code on stdout. Wraps no line with a space between quotes: the break might be one within a text. */
export function printCode(code: string): void {
  const fit = (line: string): string => fitLines(line, outputWidth());
  process.stdout.write(printableLines(code).replace(/^(?!.*(["']).* .*\1).+$/gm, fit));
}

/** Prints a message on stderr, as one line that begins with the command's name. Wraps only on a terminal. */
export function printMessage(message: string): void {
  printMessageLines(`ctxfold: ${printable(message)}`);
}

/** Prints what an error says, or for `--debug` its stack and causes. */
export function printError(error: unknown, isDebugging: boolean): void {
  if (isDebugging) printMessageLines(`ctxfold: ${inspect(error)}`);
  else printMessage(error instanceof Error ? error.message : String(error));
}

/** Prints lines on stderr with control characters escaped. */
export function printMessageLines(text: string): void {
  const width = widthOf(process.stderr);
  const shown = printableLines(text);
  process.stderr.write(`${width === undefined ? shown : fitLines(shown, width)}\n`);
}

/** Wraps the lines that are wider than `width`. Continuations of an indented line are indented further. */
export function fitLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) =>
      columnsOf(stripVTControlCharacters(line)) <= width
        ? [line]
        : fitLine(stripVTControlCharacters(line), width),
    )
    .join('\n');
}

/** Captures the indent, and a term before two or more spaces, as in help texts. A wrapped line puts its term on a line of its own. */
const TERM = /^( *)(?:(\S.*?) {2,}(?=\S))?/;

function fitLine(line: string, width: number): readonly string[] {
  const [head = '', spaces = '', term] = TERM.exec(line) ?? [];
  const words = line.slice(head.length).trim().split(/ +/);
  // Drop the indent rather than split the longest word, which may be code.
  const room = width - Math.max(...words.map(columnsOf)) - HANG.length;
  const indent = spaces.length > room ? '' : spaces.slice(0, Math.floor(width / 4));
  const hang = indent === '' ? '' : indent + HANG;
  const rest = wrap(words.join(' '), width - hang.length);
  if (term === undefined) return rest.map((part, at) => (at === 0 ? indent : hang) + part);
  const ofTerm = wrap(term, width - indent.length).map((part) => indent + part);
  return [...ofTerm, ...rest.map((part) => hang + part)];
}

const HANG = '  ';
