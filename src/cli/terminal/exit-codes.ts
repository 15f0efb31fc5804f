// Exit codes, the same for every command.

import { InterruptedError } from './interruptible.js';

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  transcript: 3,
  windowExceeded: 4,
  compressionFailed: 5,
  interrupted: 130,
} as const;

/** Returns the exit code of a command that ends with an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptedError) return EXIT.interrupted;
  const { code } = Object(error) as { readonly code?: unknown };
  const isUnread = code === 'UNKNOWN_FORMAT' || code === 'UNREADABLE_TRANSCRIPT';
  return isUnread ? EXIT.transcript : EXIT.failed;
}

const COMMON_HELP = `Exit codes:
  0    done
  1    unexpected failure
  2    wrong usage`;

/** Exit codes for the general help, and for the help of commands that play sessions. */
export const EXIT_CODES_HELP: string = `${COMMON_HELP}
  3    the transcript cannot be read, or its format is unknown
  4    the session could not be made to fit the context window
  5    a compression failed (unreachable model, unusable summary or similar)
  130  interrupted
On 4 and 5, what was played until then is reported.`;

/** Exit codes for the help of commands that run until they are terminated. */
export const SERVICE_EXIT_CODES_HELP: string = COMMON_HELP.replace(
  'done',
  'ended as it was told to',
);
