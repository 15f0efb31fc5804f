// Copies a caller's values to finite plain data, so that readers and `rewrite` never see accessors, proxies, cycles or deep
// nesting. Knows no format.

import { types } from 'node:util';
import { DEFAULT_INGESTION_LIMITS } from '../../shared/ingestion-limits.js';
import { isPlainObject } from '../../shared/json.js';

const { maxDepth, maxValues } = DEFAULT_INGESTION_LIMITS;

/** How many characters from the start and from the end of a long path an error shows. */
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
  return new PlainCopy(where).copyOf(value);
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

class PlainCopy {
  readonly #where: string;
  /** The objects from the root to the current value, and the keys between them. */
  readonly #ancestors: object[] = [];
  readonly #path: (string | number)[] = [];
  #values = 0;
  #refused: TypeError | undefined;

  constructor(where: string) {
    this.#where = where;
  }

  /** Copies the root. One `try` serves all reads, because `#path` is where the reading was when something threw. */
  copyOf(root: unknown): unknown {
    try {
      return this.#copyOf(root);
    } catch (cause) {
      if (cause === this.#refused) throw cause;
      throw this.#refusal('what throws when it is read', { cause });
    }
  }

  #copyOf(value: unknown): unknown {
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
        return value === null ? null : this.#copyOfObject(value);
      default:
        return undefined;
    }
  }

  #copyOfObject(value: object): unknown {
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return value;
    if (this.#ancestors.includes(value)) this.#refuse('a circular reference');
    if (this.#ancestors.length >= maxDepth) {
      this.#refuse(`more than ${maxDepth} levels of nesting`);
    }
    this.#ancestors.push(value);
    const { toJSON } = value as { readonly toJSON?: unknown };
    const members: unknown = typeof toJSON === 'function' ? toJSON.call(value, '') : value;
    const copy = this.#copyOfMembers(members);
    this.#ancestors.pop();
    return copy;
  }

  #copyOfMembers(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return this.#copyOf(value);
    return Array.isArray(value)
      ? this.#copyOfList(value)
      : this.#copyOfFields(value as Readonly<Record<string, unknown>>);
  }

  #copyOfList(list: readonly unknown[]): unknown {
    const { length } = list;
    // A sparse array can claim billions of elements.
    if (length > maxValues) this.#count(length);
    const copy = new Array<unknown>(length);
    for (let at = 0; at < length; at += 1) {
      this.#path.push(at);
      copy[at] = this.#copyOf(list[at]) ?? null;
      this.#path.pop();
    }
    return copy;
  }

  #copyOfFields(fields: Readonly<Record<string, unknown>>): unknown {
    const copy: Record<string, unknown> = {};
    if (this.#ancestors.length === 1)
      for (const key of accessorsOf(fields)) this.#copyField(copy, fields, key);
    for (const key of Object.keys(fields)) this.#copyField(copy, fields, key);
    return copy;
  }

  #copyField(
    copy: Record<string, unknown>,
    fields: Readonly<Record<string, unknown>>,
    key: string,
  ): void {
    this.#path.push(key);
    const value = this.#copyOf(fields[key]);
    this.#path.pop();
    if (value === undefined) return;
    if (key !== '__proto__') copy[key] = value;
    else define(copy, key, value);
  }

  #count(values: number): void {
    this.#values += values;
    if (this.#values > maxValues) this.#refuse(`more than ${maxValues} values`);
  }

  #refuse(got: string): never {
    this.#refused = this.#refusal(got);
    throw this.#refused;
  }

  #refusal(got: string, options?: ErrorOptions): TypeError {
    const steps = this.#path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`));
    const path = steps.join('');
    const shown =
      path.length <= SHOWN_START + SHOWN_END
        ? path
        : `${path.slice(0, SHOWN_START)} … ${path.slice(-SHOWN_END)}`;
    return new TypeError(
      `Expected plain data (JSON) at ${this.#where}${shown}, got ${got}.`,
      options,
    );
  }
}

/** Names of the accessors that an instance inherits from its class. */
function accessorsOf(value: object): readonly string[] {
  const names = new Set<string>();
  // All classes of its chain: the last prototype is that of a plain object.
  for (let holder = value; !isPlainObject(holder);) {
    const prototype = Object.getPrototypeOf(holder) as object;
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (!('value' in (Object.getOwnPropertyDescriptor(prototype, name) ?? {}))) names.add(name);
    }
    holder = prototype;
  }
  return [...names];
}

function define(copy: object, key: string, value: unknown): void {
  Object.defineProperty(copy, key, { value, writable: true, enumerable: true, configurable: true });
}
