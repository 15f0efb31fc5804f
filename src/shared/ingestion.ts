// Validates entries at the API boundary: an entry must have the documented shape and be plain data that JSON, structured
// clone and a tokenizer can handle. All other code relies on this.

import { isPlainName } from './shown-text.js';
import { types } from 'node:util';
import type { IContent } from './content.js';
import { assertBlock, assertSpeaker, tokensKeyOf } from './entry-shape.js';
import { asObject, elementAt, isArray, kindOf, refuse } from './misuse.js';
import { isSurelyIngestible, isMadeSurelyIngestible } from './ingestion-fast-path.js';
import { DEFAULT_INGESTION_LIMITS } from './ingestion-limits.js';
import type { IngestionLimits } from './ingestion-limits.js';

/** Entries that were checked and not handed out since. Weak, so that it does not keep them alive. */
const CHECKED = new WeakSet<object>();

/**
 * Checks an entry that ctxfold made. The caller must pass it only to a history, which then does not check it again.
 *
 * @throws TypeError as `assertIngestible` does.
 */
export function assertMadeEntry(content: IContent, position: number): void {
  if (!isMadeSurelyIngestible(content, DEFAULT_INGESTION_LIMITS))
    assertIngestible(content, position);
  CHECKED.add(content);
}

/**
 * Checks one entry; `position` is its index among those added together. Runs no code of the entry (no getters, proxy traps
 * or methods), so later reads return the values that were checked.
 *
 * @throws TypeError naming entry, block and path of the invalid value.
 */
export function assertIngestible(
  content: unknown,
  position: number,
  limits: IngestionLimits = DEFAULT_INGESTION_LIMITS,
): asserts content is IContent {
  const isChecked = limits === DEFAULT_INGESTION_LIMITS && CHECKED.has(content as object);
  if (isChecked || isSurelyIngestible(content, limits)) return;
  const where = `entry ${position}`;
  const walk = new PlainDataWalk(limits, where);
  const entry = asObject(content, where, 'an entry { speaker, blocks }');
  walk.assertPlain(entry, where);
  assertSpeaker(walk.read(entry, 'speaker', where), where);
  const blocks = walk.read(entry, 'blocks', where);
  if (!isArray(blocks)) refuse(`${where}.blocks`, 'an array of blocks', blocks);
  walk.assertElements(blocks, `${where}.blocks`);
  for (let at = 0; at < blocks.length; at += 1) {
    const blockPath = `${where}, block ${at}`;
    const block = asObject(blocks[at], blockPath, 'a block');
    walk.visitAll(block, blockPath);
    assertBlock(block, blockPath);
    // Token counts are 32-bit integers, so declared tokens are limited too.
    const key = tokensKeyOf(block);
    if (key !== undefined) walk.addTokens(Number(block[key]), `${blockPath}.${key}`);
  }
  for (const key in entry) {
    if (key === 'speaker' || key === 'blocks') continue;
    const value = walk.read(entry, key, where);
    if (key === 'metadata' && value !== undefined) {
      asObject(value, `${where}.metadata`, 'an object');
    }
    walk.visitAll(value, `${where}.${key}`);
  }
}

/** Checks all entries of a history. @throws TypeError as `assertIngestible`, and if it is not an array. */
export function assertHistory(
  name: string,
  contents: unknown,
): asserts contents is readonly IContent[] {
  if (!isArray(contents)) refuse(name, 'an array of entries', contents);
  for (let at = 0; at < contents.length; at += 1)
    assertIngestible(elementAt(name, contents, at), at);
}

/**
 * Runs a function over unchecked entries. Checks only the shape of blocks first, since such functions read few payloads; if
 * `run` throws, checks everything, so that an invalid entry is reported as misuse with its position.
 *
 * @param take called every 256 entries with the number of entries checked so far, which are then still in the processor's cache;
 *   that makes reading a long history a fifth faster @default nothing
 * @throws TypeError as `assertHistory`, else whatever `run` or `take` threw.
 */
export function overUncheckedEntries<Result>(
  name: string,
  contents: unknown,
  run: () => Result,
  take: (end: number) => void = () => undefined,
): Result {
  if (!isArray(contents)) refuse(name, 'an array of entries', contents);
  try {
    for (let at = 0; at < contents.length; at += 1) {
      if (at % ENTRIES_AT_HAND === 0) take(at);
      assertShape(contents[at], `entry ${at}`);
    }
    return run();
  } catch (thrown) {
    assertHistory(name, contents);
    throw thrown;
  }
}

/** Entries between two calls of `take`: some hundred kilobytes of objects, without their texts. */
const ENTRIES_AT_HAND = 256;

function assertShape(content: unknown, where: string): void {
  const { speaker, blocks } = asObject(content, where, 'an entry { speaker, blocks }');
  assertSpeaker(speaker, where);
  if (!isArray(blocks)) refuse(`${where}.blocks`, 'an array of blocks', blocks);
  for (let at = 0; at < blocks.length; at += 1) {
    const blockPath = `${where}, block ${at}`;
    assertBlock(asObject(blocks[at], blockPath, 'a block'), blockPath);
  }
}

/** Depth-first walk that rejects values that are not plain data, circular, too deep or too large. */
class PlainDataWalk {
  readonly #limits: IngestionLimits;
  readonly #entry: string;
  /** The objects on the path from the root to the current value. */
  readonly #ancestors = new Set<object>();
  /** The root's name, then the keys on that path; joined only for an error message. */
  readonly #path: (string | number)[] = [];
  #characters = 0;
  #values = 0;

  constructor(limits: IngestionLimits, entry: string) {
    this.#limits = limits;
    this.#entry = entry;
  }

  visitAll(root: unknown, where: string): void {
    this.#path.push(where);
    this.#visit(root);
    this.#path.pop();
  }

  /** Adds declared tokens to the size. */
  addTokens(count: number, where: string): void {
    this.#path.push(where);
    this.#addCharacters(count);
    this.#path.pop();
  }

  /** Rejects proxies and class instances; does not look inside. */
  assertPlain(value: object, where: string): void {
    this.#path.push(where);
    this.#assertPlain(value);
    this.#path.pop();
  }

  /** The value of a property; rejects a getter. */
  read(record: object, key: string, where: string): unknown {
    this.#path.push(where, key);
    const value = this.#valueOf(record, key);
    this.#path.length -= 2;
    return value;
  }

  /** Rejects arrays that are not plain; does not look at the elements. */
  assertElements(values: readonly unknown[], where: string): void {
    this.#path.push(where);
    this.#assertPlain(values);
    this.#assertElements(values);
    this.#path.pop();
  }

  #assertPlain(value: object): void {
    if (types.isProxy(value)) this.#refuse('a Proxy');
    const prototype: unknown = Object.getPrototypeOf(value);
    if (Array.isArray(value)) {
      if (prototype !== Array.prototype && !isForeignPrototype(prototype, 'copyWithin')) {
        this.#refuse(kindOf(value));
      }
      return;
    }
    if (
      prototype !== Object.prototype &&
      prototype !== null &&
      !isForeignPrototype(prototype, 'isPrototypeOf')
    ) {
      this.#refuse(kindOf(value));
    }
    if ('callee' in value && types.isArgumentsObject(value)) this.#refuse('an arguments object');
  }

  #visit(value: unknown): void {
    this.#addValues(1);
    switch (typeof value) {
      case 'string':
        this.#addCharacters(value.length);
        return;
      case 'number':
        // -0 is accepted, although JSON writes it as 0.
        if (!Number.isFinite(value)) this.#refuse(kindOf(value));
        return;
      case 'boolean':
      case 'undefined':
        return;
      case 'object':
        if (value !== null) this.#visitObject(value);
        return;
      default:
        this.#refuse(kindOf(value));
    }
  }

  #visitObject(value: object): void {
    this.#assertPlain(value);
    if (this.#ancestors.has(value)) this.#refuse('a circular reference');
    if (this.#ancestors.size >= this.#limits.maxDepth) {
      throw new TypeError(
        `Expected at most ${this.#limits.maxDepth} levels of nesting at ${this.#where()}; ` +
          'flatten the value or store it as text.',
      );
    }
    this.#ancestors.add(value);
    if (Array.isArray(value)) this.#visitElements(value);
    else this.#visitProperties(value);
    this.#ancestors.delete(value);
  }

  #visitElements(values: readonly unknown[]): void {
    this.#assertElements(values);
    const last = this.#path.length;
    this.#path.push(0);
    for (let at = 0; at < values.length; at += 1) {
      this.#path[last] = at;
      const value = values[at];
      // JSON would write null.
      if (value === undefined) this.#refuse('undefined');
      this.#visit(value);
    }
    this.#path.pop();
  }

  /** Rejects elements that are getters, and properties that are not elements. */
  #assertElements(values: readonly unknown[]): void {
    // Checked before visiting: a sparse array can have a length of billions.
    this.#addValues(values.length);
    this.#values -= values.length;
    for (let at = 0; at < values.length; at += 1) {
      if (lookupGetter.call(values, at) !== undefined) this.#refuse(`a getter as element ${at}`);
    }
    if (Object.keys(values).length > values.length || Object.hasOwn(values, Symbol.iterator)) {
      this.#refuse('an array with properties of its own');
    }
  }

  #visitProperties(record: object): void {
    const last = this.#path.length;
    this.#path.push('');
    // Unlike Object.keys, this allocates no array. Inherited keys, if any, have no own descriptor.
    for (const key in record) {
      this.#path[last] = key;
      this.#addCharacters(key.length);
      this.#visit(this.#valueOf(record, key));
    }
    this.#path.pop();
  }

  /** The value of an own property, or `undefined`. Rejects getters: they could return something else later. */
  #valueOf(record: object, key: string): unknown {
    const property = Object.getOwnPropertyDescriptor(record, key);
    if (property === undefined || 'value' in property) return property?.value;
    return this.#refuse('a getter');
  }

  #addCharacters(count: number): void {
    this.#characters += count;
    if (this.#characters > this.#limits.maxCharacters) {
      this.#refuseSize(this.#limits.maxCharacters, 'characters');
    }
  }

  #addValues(count: number): void {
    this.#values += count;
    if (this.#values > this.#limits.maxValues) this.#refuseSize(this.#limits.maxValues, 'values');
  }

  #refuseSize(limit: number, unit: string): never {
    throw new TypeError(
      `Expected at most ${limit} ${unit} in ${this.#entry}, exceeded at ${this.#where()}; ` +
        'cut the largest value, or keep it in a file and name the file.',
    );
  }

  #refuse(got: string): never {
    throw new TypeError(`Expected plain data (JSON) at ${this.#where()}, got ${got}.`);
  }

  /** The current path, shortened if it is hundreds of levels long. */
  #where(): string {
    const [root, ...keys] = this.#path;
    const steps = keys.map(shownStep).join('');
    const short = steps.length <= 160 ? steps : `${steps.slice(0, 100)} … ${steps.slice(-50)}`;
    return `${root ?? ''}${short}`;
  }
}

/** Keys can be content, just like values, so unusual ones are not shown. */
function shownStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return isPlainName(key) ? `.${key}` : `.(a key of ${key.length} characters)`;
}

const lookupGetter = (
  Object.prototype as unknown as { __lookupGetter__: (this: unknown, key: PropertyKey) => unknown }
).__lookupGetter__;

/** Whether a prototype is the `Object.prototype` or `Array.prototype` of another realm, judged by a method that it has. */
function isForeignPrototype(prototype: unknown, method: string): boolean {
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return false;
  const next: unknown = Object.getPrototypeOf(prototype);
  const root: unknown =
    Array.isArray(prototype) && next !== null ? Object.getPrototypeOf(next) : next;
  return root === null && Object.hasOwn(prototype, method);
}
