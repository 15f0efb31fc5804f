// The ways in which a command prints: reports and documents on stdout, messages on stderr. No line for a person is wider than
// the terminal. Decides nothing about what is said.

import { terminalLayout, widthOf } from './terminal-layout.js';
import { printableLines } from './terminal-text.js';
import { fitLines } from './text-layout.js';

/** Stands for stdin where a file is read, and for stdout where one is written. */
export const STANDARD_STREAM = '-';

/** Prints what a person reads. */
export function printText(text: string): void {
  process.stdout.write(fitLines(text, terminalLayout().width));
}

/** Tells something on stderr, after the command's name: on one line where that goes to a file. */
export function tell(message: string): void {
  tellLines(`ctxfold: ${message}`);
}

/** Tells lines on stderr as they are, but for what could steer a terminal. */
export function tellLines(text: string): void {
  const width = widthOf(process.stderr);
  const shown = printableLines(text);
  process.stderr.write(`${width === undefined ? shown : fitLines(shown, width)}\n`);
}
