// Output of commands: reports on stdout, messages on stderr, both wrapped to the terminal's width.

import { outputWidth, widthOf } from './terminal-layout.js';
import { printableLines } from './terminal-text.js';
import { fitLines } from './text-layout.js';

/** The file name that stands for stdin as input and for stdout as output. */
export const STANDARD_STREAM = '-';

/** Prints text for a person on stdout. */
export function printText(text: string): void {
  process.stdout.write(fitLines(text, outputWidth()));
}

/** Prints a message on stderr, prefixed with the command's name. Wraps only on a terminal. */
export function printMessage(message: string): void {
  printMessageLines(`ctxfold: ${message}`);
}

/** Prints lines on stderr with control characters escaped. */
export function printMessageLines(text: string): void {
  const width = widthOf(process.stderr);
  const shown = printableLines(text);
  process.stderr.write(`${width === undefined ? shown : fitLines(shown, width)}\n`);
}
