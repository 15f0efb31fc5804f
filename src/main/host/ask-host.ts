// Calls the host's functions, which may throw or return anything, and reduces errors to what may be logged. Calls are
// synchronous: a promise counts as a wrong answer.

import { types } from 'node:util';
import { isError, textOf } from '../../shared/errors.js';
import { kindOf } from '../../shared/misuse.js';

/**
 * Calls a function of the host.
 *
 * @param name the function's name in error messages
 * @param expected what it has to return, for error messages
 * @param failed creates the error to throw
 * @param read parses the answer; returns `undefined` for an invalid one
 * @throws what `failed` creates, if the function or `read` throws, or the answer is invalid.
 */
export function askHost<Answer>(
  name: string,
  expected: string,
  ask: () => unknown,
  failed: (message: string, options?: ErrorOptions) => Error,
  read: (answer: unknown) => Answer | undefined,
): Answer {
  let answer: unknown;
  let found: Answer | undefined;
  try {
    answer = ask();
    found = read(answer);
  } catch (thrown) {
    const cause = withoutContent(thrown);
    throw failed(`${name} threw: ${cause.message}`, { cause });
  }
  if (found !== undefined) return found;
  // An unhandled rejection would end the process.
  if (types.isPromise(answer)) answer.catch(() => undefined);
  throw failed(`${name} returned ${kindOf(answer)}. Expected ${expected}.`);
}

/** Calls a function of the host for its effect only, and reports what it throws or rejects with. */
export function tellHost(tell: () => unknown, report: (thrown: unknown) => void): void {
  try {
    const returned = tell();
    // An unhandled rejection would end the process.
    if (types.isPromise(returned)) returned.catch(report);
  } catch (thrown) {
    report(thrown);
  }
}

const MAX_MESSAGE_LENGTH = 300;

/** Returns a copy of an error with its name, message and stack only: SDK errors carry whole requests, which must not be logged. */
export function withoutContent(thrown: unknown): Error {
  const copy = new Error(messageOf(thrown));
  if (!isError(thrown)) return copy;
  copy.name = textOf(thrown, 'name') ?? 'Error';
  // Only the frames: the original stack starts with the full message, which may be long.
  const stack = textOf(thrown, 'stack') ?? '';
  const frames = stack.indexOf('\n    at ');
  copy.stack = `${copy.name}: ${copy.message}${frames === -1 ? '' : stack.slice(frames)}`;
  return copy;
}

function messageOf(thrown: unknown): string {
  const message = isError(thrown) ? (textOf(thrown, 'message') ?? '') : typeof thrown;
  const line = message.slice(0, MAX_MESSAGE_LENGTH).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.trim() === '' ? 'no message' : line.trim();
}
