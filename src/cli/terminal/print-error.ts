// Maps a thrown error to a line for stderr and an exit code.

import { inspect } from 'node:util';
import { CtxfoldError } from '../../index.js';
import { EXIT } from './exit-codes.js';
import { InterruptedError } from './interruptible.js';
import { printable, printableLines } from './terminal-text.js';

export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptedError) return EXIT.interrupted;
  if (!(error instanceof CtxfoldError)) return EXIT.failed;
  switch (error.code) {
    case 'UNKNOWN_FORMAT':
    case 'UNREADABLE_TRANSCRIPT':
      return EXIT.transcript;
    case 'CONTEXT_WINDOW_EXCEEDED':
      return EXIT.windowExceeded;
    default:
      return EXIT.failed;
  }
}

/** Returns one line for an error, or with `debug` its stack and causes. */
export function describeError(error: unknown, debug: boolean): string {
  if (debug) return `ctxfold: ${printableLines(inspect(error))}`;
  const message = error instanceof Error ? error.message : String(error);
  return `ctxfold: ${printable(message)}`;
}
