// Parsers of option values, and the error for an invalid one.

import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';

/** Returns a parser of whole numbers within bounds; accepts digit groups, as in `200_000`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  return (value: string): number => {
    const number = /^\d+(?:_\d+)*$/.test(value) ? Number(value.replaceAll('_', '')) : NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}

/** Returns a parser of shares from 0 to 1; 0 is accepted only with `allowsZero`. */
export function share(allowsZero: boolean) {
  return (value: string): number => {
    const number = /^(?:\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : NaN;
    if (number <= 1 && (number > 0 || allowsZero)) return number;
    throw new InvalidArgumentError(
      `Expected a share ${allowsZero ? 'from 0' : 'above 0'} to 1, such as 0.5.`,
    );
  };
}

/** An option is invalid, alone or beside others. Ends the command as a value does that a parser refuses. */
export class UsageError extends Error {}

/**
 * Returns what a function resolves to, which is given the options of a command.
 *
 * @throws UsageError in place of what misuse throws; what else the function throws
 */
export async function withOptions<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError)
      throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** Describes what `isPlainUrl` accepts, for messages. */
export const PLAIN_URL = 'an http or https URL without credentials, query or fragment';

/** Whether a text is what `PLAIN_URL` describes. Credentials and queries may hold secrets, and the URL is printed. */
export function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  const isWeb = protocol === 'http:' || protocol === 'https:';
  return isWeb && username === '' && password === '' && !/[?#]/.test(text);
}

/** Parser of a path: resolves it against the working directory. */
export function absolutePath(path: string): string {
  return resolve(path);
}

/** Parser of an option that may be given several times: collects the values. */
export function collectValues(
  value: string,
  previous: readonly string[] | undefined,
): readonly string[] {
  return [...(previous ?? []), value];
}
