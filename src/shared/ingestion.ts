// The boundary at which entries come in: checks that an entry has the documented shape and is plain
// data that JSON, structured clone and a tokenizer can take. Everything behind it trusts that.

import { isPlainName } from './shown-text.js';
import { types } from 'node:util';
import type { IContent } from './content.js';
import { assertBlock, assertSpeaker, claimKeyOf } from './entry-shape.js';
import { asObject, elementAt, isArray, kindOf, readOptions, refuse } from './misuse.js';
import { isSurelyIngestible, isSurelyMade } from './sure-ingestion.js';

/** How deep and how large an entry may be. */
export interface IngestionLimits {
  /** Levels of nesting inside a block. @default 256, far below what structured clone and the pool survive */
  readonly maxDepth: number;
  /**
   * Characters of all strings and keys of an entry, counted in UTF-16 units, and the tokens that
   * its opaque blocks and the media in its results are said to take. @default 8,388,608
   */
  readonly maxCharacters: number;
  /** Values in an entry, counting every object, array, element and primitive. @default 1,000,000 */
  readonly maxValues: number;
}

export const DEFAULT_INGESTION_LIMITS: IngestionLimits = {
  maxDepth: 256,
  maxCharacters: 8 * 1024 * 1024,
  maxValues: 1_000_000,
};

/** Entries that were checked, and that nobody else has had since: by a weak set, as they belong to others later. */
const CHECKED = new WeakSet<object>();

/**
 * Checks an entry that its maker hands to nobody but a history, which does not look at it again then.
 *
 * @throws TypeError as `assertIngestible` does.
 */
export function assertMadeEntry(content: IContent, position: number): void {
  if (!isSurelyMade(content, DEFAULT_INGESTION_LIMITS)) assertIngestible(content, position);
  CHECKED.add(content);
}

/**
 * Checks one entry; `position` is where it would stand among those added together. Runs no code of the entry: no getter,
 * no trap and no method of it is called, so that what was checked is what everybody reads later.
 *
 * @throws TypeError naming entry, block and path to the value that is at fault.
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
    // Counts are kept as 32-bit integers, and what a block only claims to hold adds to them as well.
    const key = claimKeyOf(block);
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

/** Checks all entries of a history. @throws TypeError as `assertIngestible` does, and for what is no array. */
export function assertHistory(
  name: string,
  contents: unknown,
): asserts contents is readonly IContent[] {
  if (!isArray(contents)) refuse(name, 'an array of entries', contents);
  for (let at = 0; at < contents.length; at += 1)
    assertIngestible(elementAt(name, contents, at), at);
}

/**
 * Runs what looks at entries that nobody has checked, and reads few of their payloads: so only the shape of blocks is
 * checked first, and all of it when `run` throws. What an entry is to blame for is misuse, and says which entry.
 *
 * @throws TypeError as `assertHistory` does, else what `run` threw.
 */
export function overEntries<Result>(name: string, contents: unknown, run: () => Result): Result {
  if (!isArray(contents)) refuse(name, 'an array of entries', contents);
  try {
    for (let at = 0; at < contents.length; at += 1) assertShape(contents[at], `entry ${at}`);
    return run();
  } catch (thrown) {
    assertHistory(name, contents);
    throw thrown;
  }
}

function assertShape(content: unknown, where: string): void {
  const { speaker, blocks } = asObject(content, where, 'an entry { speaker, blocks }');
  assertSpeaker(speaker, where);
  if (!isArray(blocks)) refuse(`${where}.blocks`, 'an array of blocks', blocks);
  for (let at = 0; at < blocks.length; at += 1) {
    const blockPath = `${where}, block ${at}`;
    assertBlock(asObject(blocks[at], blockPath, 'a block'), blockPath);
  }
}

/** Visits values depth first and refuses what is no plain data, what is circular, too deep or too much. */
class PlainDataWalk {
  readonly #limits: IngestionLimits;
  readonly #entry: string;
  /** The objects on the way from the root to the value at hand. */
  readonly #ancestors = new Set<object>();
  /** Where the root stands, then the keys on that way; joined only when something is wrong. */
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

  /** Counts what stands for a text that is not here. */
  addTokens(count: number, where: string): void {
    this.#path.push(where);
    this.#addCharacters(count);
    this.#path.pop();
  }

  /** Refuses a proxy and an instance of a class; looks at nothing inside. */
  assertPlain(value: object, where: string): void {
    this.#path.push(where);
    this.#assertPlain(value);
    this.#path.pop();
  }

  /** The value of a property, which must be no getter. */
  read(record: object, key: string, where: string): unknown {
    this.#path.push(where, key);
    const value = this.#valueOf(record, key);
    this.#path.length -= 2;
    return value;
  }

  /** Refuses what is no plain array; looks at none of the elements. */
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
      if (prototype !== Array.prototype && !isForeign(prototype, 'copyWithin')) {
        this.#refuse(kindOf(value));
      }
      return;
    }
    if (
      prototype !== Object.prototype &&
      prototype !== null &&
      !isForeign(prototype, 'isPrototypeOf')
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
        if (!isJsonNumber(value)) this.#refuse(kindOf(value));
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
      // JSON has no such element, and would write null.
      if (value === undefined) this.#refuse('undefined');
      this.#visit(value);
    }
    this.#path.pop();
  }

  /** Refuses holes, elements that are getters, and whatever an array has besides elements. */
  #assertElements(values: readonly unknown[]): void {
    // Counted before they are visited: a sparse array can claim billions of elements.
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
    // Not Object.keys: this makes no array, and what it finds besides has no descriptor.
    for (const key in record) {
      this.#path[last] = key;
      this.#addCharacters(key.length);
      this.#visit(this.#valueOf(record, key));
    }
    this.#path.pop();
  }

  /** The value of a property of its own, or `undefined`. A getter is not asked: it may answer otherwise next time. */
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

  #refuse(got: string, options?: ErrorOptions): never {
    throw new TypeError(`Expected plain data (JSON) at ${this.#where()}, got ${got}.`, options);
  }

  /** Stays readable when the way is hundreds of levels long. */
  #where(): string {
    const [root, ...keys] = this.#path;
    const steps = keys.map(shownStep).join('');
    const short = steps.length <= 160 ? steps : `${steps.slice(0, 100)} … ${steps.slice(-50)}`;
    return `${root ?? ''}${short}`;
  }
}

/** Keys of parameters may be content as much as their values. */
function shownStep(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`;
  return isPlainName(key) ? `.${key}` : `.(a key of ${key.length} characters)`;
}

const lookupGetter = (
  Object.prototype as unknown as { __lookupGetter__: (this: unknown, key: PropertyKey) => unknown }
).__lookupGetter__;

/** Whether JSON has the number: neither NaN nor an infinity. Of the zero below zero, which JSON reads, it writes the other one. */
function isJsonNumber(value: number): boolean {
  return Number.isFinite(value);
}

/** Whether this is what another realm has for `Object.prototype` or `Array.prototype`, told by a method of it. */
function isForeign(prototype: unknown, method: string): boolean {
  if (typeof prototype !== 'object' || prototype === null || types.isProxy(prototype)) return false;
  const next: unknown = Object.getPrototypeOf(prototype);
  const root: unknown =
    Array.isArray(prototype) && next !== null ? Object.getPrototypeOf(next) : next;
  return root === null && Object.hasOwn(prototype, method);
}

/** Fills in the default limits. @throws RangeError for a limit that is not a number of at least 0. */
export function completeLimits(limits: Partial<IngestionLimits> = {}): IngestionLimits {
  const complete = { ...DEFAULT_INGESTION_LIMITS, ...readOptions('limits', limits) };
  for (const [name, limit] of Object.entries(complete)) {
    if (typeof limit === 'number' && limit >= 0) continue;
    throw new RangeError(`Expected ${name} to be a number of at least 0, got ${typeof limit}.`);
  }
  return complete;
}
