// What an attack may lead to: a refusal that somebody wrote, and no object of the caller's changed. Asserts by throwing.

import { types } from 'node:util';
import { expect } from 'vitest';
import { CtxfoldError } from '../../src/shared/errors.js';

/** Objects of a value that are looked at for changes. */
const MAX_OBJECTS = 2_000;

/** Whether an error is one that this package means to throw, and none that the language threw at it. */
export function isMeant(error: unknown): error is Error {
  if (error instanceof CtxfoldError) return true;
  const isMisuse = error instanceof TypeError || error instanceof RangeError;
  return (
    isMisuse && /^(?:Expected|Invalid (?:adapter options|arguments of a call))/.test(error.message)
  );
}

/** What is told of an error in the message of an assertion. */
export function tellOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : typeof error;
}

/** Remembers each object in a value as it is, without asking any of them; the function it returns asserts that all are. */
export function watchForChanges(root: unknown): () => void {
  const seen = new Map<object, PropertyDescriptorMap>();
  const pending: unknown[] = [root];
  while (pending.length > 0 && seen.size < MAX_OBJECTS) {
    const value = pending.pop();
    const isObject = typeof value === 'object' && value !== null;
    if (!isObject || value === globalThis || types.isProxy(value) || seen.has(value)) continue;
    if (ArrayBuffer.isView(value)) continue;
    const descriptors: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(value);
    seen.set(value, descriptors);
    for (const { value: inner } of Object.values(descriptors)) pending.push(inner);
  }
  return () => {
    for (const [value, before] of seen) {
      const now: PropertyDescriptorMap = Object.getOwnPropertyDescriptors(value);
      const isSame =
        Reflect.ownKeys(now).length === Reflect.ownKeys(before).length &&
        Object.entries(before).every(([key, descriptor]) => {
          const other = now[key];
          return (
            other !== undefined &&
            Object.is(other.value, descriptor.value) &&
            other.get === descriptor.get &&
            other.set === descriptor.set
          );
        });
      expect(isSame, 'an object of the caller was changed').toBe(true);
    }
  };
}

/** Every so many of the items, so that `count` of them are left, or all where there are no more. */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items;
  // A step that shares no factor with the lengths of the lists that were multiplied meets each of their members.
  const step = items.length / count;
  return Array.from({ length: count }, (_, at) => items[Math.floor(at * step)] as Item);
}
