// What becomes of a call that was given a hostile value: judged, and held against what a caller may rely on.

import { types } from 'node:util';
import { ERROR_CODES } from '../../src/shared/errors.js';

/** A call that has to end: with a value, or with an error that a caller can tell from a defect. */
export type Outcome = 'value' | 'refused' | `defect: ${string}`;

/** How long a call may take, in milliseconds: only what hangs takes as long, on a machine with ten other things to do as well. */
const DEADLINE_MS = 60_000;

/** Messages of the engine, which say that a value was used before anybody looked at it. */
const ACCIDENT =
  /Cannot (read|set|destructure|convert|perform|assign|redefine|mix|use)|is not (a function|iterable|a constructor|an object|defined|async iterable)|circular structure|call stack|Do not know how to serialize|Reduce of empty|Invalid (array|string|time|value used)|could not be cloned/;

/** Calls, waits for what is returned, and tells how that ended. */
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
  // What is no promise of ours may be the hostile value itself, with a `then` of its own.
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

/** Parts of a value that are looked at for its fingerprint. */
const MAX_PARTS = 2_000;

/** What a value is made of, without a getter of it being asked; equal texts for what has not changed. */
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
