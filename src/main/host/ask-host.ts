// Questions to functions of the host, which may throw and return anything. They are synchronous: what
// they return late nobody waits for.

import { types } from 'node:util';
import { kindOf } from '../../shared/misuse.js';
import { withoutContent } from './without-content.js';

/**
 * Asks a function of the host.
 *
 * @param name what it is called in messages
 * @param failed makes the error
 * @param read what the answer says, or `undefined` when it is none
 * @throws what `failed` makes, when the function or the reading throws, and for what is no answer.
 */
export function askHost<Answer>(
  name: string,
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
  // Its rejection would otherwise end the process.
  if (types.isPromise(answer)) answer.catch(() => undefined);
  throw failed(`${name} returned ${kindOf(answer)}, which is not what it has to.`);
}
