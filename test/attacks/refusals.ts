// The allowed outcome of an attack: a deliberate refusal, without changes to the caller's objects. Asserts by throwing.

import { types } from 'node:util';
import { expect } from 'vitest';
import { CtxfoldError } from '../../src/shared/errors.js';

/** Maximum number of objects in a value that are checked for changes. */
const MAX_OBJECTS = 2_000;

/** Whether this package threw an error on purpose, rather than the engine. */
export function isMeant(error: unknown): error is Error {
  if (error instanceof CtxfoldError) return true;
  const isMisuse = error instanceof TypeError || error instanceof RangeError;
  return (
    isMisuse && /^(?:Expected|Invalid (?:adapter options|arguments of a call))/.test(error.message)
  );
}

/** How assertion messages show an error. */
export function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : typeof error;
}

/**
 * Takes a snapshot of all objects in a value, without invoking getters; the returned function asserts that they are
 * unchanged.
 */
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

/** Evenly spread items: `count` of them, or all if there are no more. */
export function spread<Item>(items: readonly Item[], count: number): readonly Item[] {
  if (count >= items.length) return items;
  // The step shares no factor with the lengths of multiplied lists, so that each of their members occurs.
  const step = items.length / count;
  return Array.from({ length: count }, (_, at) => items[Math.floor(at * step)] as Item);
}
