// Copies what a caller passes to finite plain data, so that readers and `rewrite` never see its accessors, proxies, cycles or
// deep nesting. Knows no format.

import { types } from 'node:util';
import { DEFAULT_INGESTION_LIMITS } from '../shared/ingestion-limits.js';

const { maxDepth, maxValues } = DEFAULT_INGESTION_LIMITS;

/** Characters from the start and the end of a path that an error shows. */
const SHOWN_START = 100;
const SHOWN_END = 50;

/**
 * Returns a copy like a round trip through JSON: reads each property once, calls `toJSON`, omits functions and `undefined`, replaces
 * NaN and infinities by `null`. Strings and bytes are shared with the original. At the top level, accessors of an
 * instance's class count as properties.
 *
 * @param where names the value in errors, such as `message 3`
 * @throws TypeError naming the path of a cycle, a bigint, a value nested more than 256 levels deep, a property that throws when it is
 *   read, or if there are more than 1,000,000 values
 */
export function plainData(value: unknown, where: string): unknown {
  return new PlainCopy(where).copyOf(value, accessorsOf);
}

/** Returns `plainData`, or `undefined` if that throws. */
export function tryPlainData(value: unknown): unknown {
  try {
    return plainData(value, 'the value');
  } catch {
    return undefined;
  }
}

/**
 * Returns an object whose own properties are the whole content of a message: the message itself if it is a plain object, else
 * its plain data.
 */
export function spreadable<Message extends object>(message: Message): Message {
  const isPlain = isPlainObject(message) && !('toJSON' in message);
  return isPlain ? message : (plainData(message, 'the message') as Message);
}

type KeysOf = (value: object) => readonly string[];

const noKeys: KeysOf = () => [];

class PlainCopy {
  readonly #where: string;
  /** The objects from the root to the current value, and the keys between them. */
  readonly #ancestors: object[] = [];
  readonly #path: (string | number)[] = [];
  #values = 0;

  constructor(where: string) {
    this.#where = where;
  }

  copyOf(value: unknown, moreKeys: KeysOf = noKeys): unknown {
    this.#count(1);
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        // Turns -0 into 0, as JSON does.
        return Number.isFinite(value) ? value + 0 : null;
      case 'bigint':
        return this.#refuse('a bigint');
      case 'object':
        return value === null ? null : this.#copyOfObject(value, moreKeys);
      default:
        return undefined;
    }
  }

  #copyOfObject(value: object, moreKeys: KeysOf): unknown {
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return value;
    if (this.#ancestors.includes(value)) this.#refuse('a circular reference');
    if (this.#ancestors.length >= maxDepth) {
      this.#refuse(`more than ${maxDepth} levels of nesting`);
    }
    this.#ancestors.push(value);
    const copy = this.#copyOfMembers(this.#asJson(value), moreKeys);
    this.#ancestors.pop();
    return copy;
  }

  #asJson(value: object): unknown {
    return this.#guard(() => {
      const { toJSON } = value as { readonly toJSON?: unknown };
      return typeof toJSON === 'function' ? (toJSON.call(value, '') as unknown) : value;
    });
  }

  #copyOfMembers(value: unknown, moreKeys: KeysOf): unknown {
    if (typeof value !== 'object' || value === null) return this.copyOf(value);
    const isList = this.#guard(() => Array.isArray(value));
    return isList
      ? this.#copyOfList(value as readonly unknown[])
      : this.#copyOfFields(value as Readonly<Record<string, unknown>>, moreKeys);
  }

  #copyOfList(list: readonly unknown[]): unknown {
    const length = this.#guard(() => list.length);
    // A sparse array can claim billions of elements.
    if (length > maxValues) this.#count(length);
    const copy: unknown[] = [];
    for (let at = 0; at < length; at += 1) {
      this.#path.push(at);
      copy.push(this.copyOf(this.#guard(() => list[at])) ?? null);
      this.#path.pop();
    }
    return copy;
  }

  #copyOfFields(fields: Readonly<Record<string, unknown>>, moreKeys: KeysOf): unknown {
    const copy: Record<string, unknown> = {};
    const keys = this.#guard(() => [...moreKeys(fields), ...Object.keys(fields)]);
    for (const key of keys) {
      this.#path.push(key);
      const value = this.copyOf(this.#guard(() => fields[key]));
      this.#path.pop();
      if (value === undefined) continue;
      if (key !== '__proto__') copy[key] = value;
      else define(copy, key, value);
    }
    return copy;
  }

  #guard<Value>(read: () => Value): Value {
    try {
      return read();
    } catch (cause) {
      return this.#refuse('what throws when it is read', { cause });
    }
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > maxValues) this.#refuse(`more than ${maxValues} values`);
  }

  #refuse(got: string, options?: ErrorOptions): never {
    const steps = this.#path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
    const path = steps.join('');
    const shown =
      path.length <= SHOWN_START + SHOWN_END
        ? path
        : `${path.slice(0, SHOWN_START)} … ${path.slice(-SHOWN_END)}`;
    throw new TypeError(
      `Expected plain data (JSON) at ${this.#where}${shown}, got ${got}.`,
      options,
    );
  }
}

/** Names of the accessors that an instance inherits from its class. */
function accessorsOf(value: object): readonly string[] {
  const names = new Set<string>();
  let prototype: unknown = Object.getPrototypeOf(value);
  while (typeof prototype === 'object' && prototype !== null && !isRootPrototype(prototype)) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (!('value' in (Object.getOwnPropertyDescriptor(prototype, name) ?? {}))) names.add(name);
    }
    prototype = Object.getPrototypeOf(prototype);
  }
  return [...names];
}

/** Whether it has no class. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || (typeof prototype === 'object' && isRootPrototype(prototype));
}

/** Whether it is the `Object.prototype` of any realm. */
function isRootPrototype(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null;
}

function define(copy: object, key: string, value: unknown): void {
  Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
}
