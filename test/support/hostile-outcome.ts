// Classifies the outcome of a call with a hostile value, by what a caller may rely on.

import { types } from 'node:util';
import { ERROR_CODES } from '../../src/shared/errors.js';

/** A call must end with a value, or with an error that a caller can tell from a defect. */
export type Outcome = 'value' | 'refused' | `defect: ${string}`;

/** Deadline of a call in milliseconds: even on a very busy machine, only a hang takes as long. */
const DEADLINE_MS = 60_000;

/** The engine's messages, which mean that a value was used before it was validated. */
const ACCIDENT =
  /Cannot (read|set|destructure|convert|perform|assign|redefine|mix|use)|is not (a function|iterable|a constructor|an object|defined|async iterable)|circular structure|call stack|Do not know how to serialize|Reduce of empty|Invalid (array|string|time|value used)|could not be cloned/;

/** Calls, awaits the result, and classifies the outcome. */
export async function outcomeOf(call: () => unknown): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => {
      resolve('defect: it hangs');
    }, DEADLINE_MS);
  });
  try {
    return await Promise.race([settle(call), late]);
  } catch (thrown) {
    return judge(thrown);
  } finally {
    clearTimeout(timer);
  }
}

async function settle(call: () => unknown): Promise<Outcome> {
  const returned = call();
  // Anything else may be the hostile value itself, with its own `then`.
  if (types.isPromise(returned)) await returned;
  return 'value';
}

function judge(thrown: unknown): Outcome {
  if (thrown instanceof Error && thrown.message === 'aborted by the corpus') return 'refused';
  if (!(thrown instanceof Error)) return 'defect: it throws what is no error';
  const { name, message, code } = thrown as Error & { readonly code?: unknown };
  if (ERROR_CODES.some((known) => known === code)) return 'refused';
  const isMisuse = thrown instanceof TypeError || thrown instanceof RangeError;
  if (isMisuse && !ACCIDENT.test(message)) return 'refused';
  return `defect: ${name}: ${message.slice(0, 200)} ${thrown.stack?.split('\n').find((line) => line.includes('/dist/')) ?? ''}`;
}

/** Maximum parts of a value in its fingerprint. */
const MAX_PARTS = 2_000;

/** The contents of a value, without invoking getters; equal for values that have not changed. */
export function fingerprint(root: unknown): string {
  const seen = new Map<unknown, number>();
  const parts: string[] = [];
  const pending: unknown[] = [root];
  while (pending.length > 0 && parts.length < MAX_PARTS) {
    const value = pending.pop();
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (!isObject) {
      parts.push(
        typeof value === 'string' ? `"${value.length}` : `${typeof value} ${String(value)}`,
      );
      continue;
    }
    const known = seen.get(value);
    parts.push(`#${known ?? seen.size}`);
    if (known !== undefined || types.isProxy(value)) continue;
    seen.set(value, seen.size);
    if (value === globalThis || ArrayBuffer.isView(value)) continue;
    for (const key of Reflect.ownKeys(value).slice(0, MAX_PARTS)) {
      const property = Object.getOwnPropertyDescriptor(value, key);
      parts.push(String(key));
      pending.push(property?.value ?? property?.get);
    }
  }
  return parts.join('|');
}
