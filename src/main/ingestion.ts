// The boundary at which entries come in: checks that an entry has the documented shape and is plain
// data that JSON, structured clone and a tokenizer can take. Everything behind it trusts that.

import { isPlainName, shownText } from '../shared/shown-text.js';
import { types } from 'node:util';
import type { ContentBlock, IContent } from '../shared/content.js';

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

/**
 * Checks one entry; `position` is where it would stand among those added together. Reads every
 * value once and changes none.
 *
 * @throws TypeError naming entry, block and path to the value that is at fault.
 */
export function assertIngestible(
  content: unknown,
  position: number,
  limits: IngestionLimits = DEFAULT_INGESTION_LIMITS,
): asserts content is IContent {
  const where = `entry ${position}`;
  const entry = asObject(content, where, 'an entry { speaker, blocks }');
  const walk = new PlainDataWalk(limits, where);
  walk.assertPlain(entry, where);
  const { speaker, blocks, metadata } = entry;
  if (speaker !== 'human' && speaker !== 'ai' && speaker !== 'tool') {
    fail(`${where}.speaker`, "'human', 'ai' or 'tool'", speaker);
  }
  if (!Array.isArray(blocks)) fail(`${where}.blocks`, 'an array of blocks', blocks);
  walk.assertPlain(blocks, `${where}.blocks`);
  // The iterator sees the holes of a sparse array, which forEach would skip.
  for (const [at, block] of (blocks as readonly unknown[]).entries()) {
    const blockPath = `${where}, block ${at}`;
    walk.visitAll(block, blockPath);
    const fields = asObject(block, blockPath, 'a block');
    assertBlock(fields, blockPath);
    // Counts are kept as 32-bit integers, and what a block only claims to hold adds to them as well.
    const key = claimKeyOf(fields);
    if (key !== undefined) walk.addTokens(Number(fields[key]), `${blockPath}.${key}`);
  }
  if (metadata !== undefined) asObject(metadata, `${where}.metadata`, 'an object');
  for (const key of Object.keys(entry)) {
    if (key !== 'speaker' && key !== 'blocks') walk.visitAll(entry[key], `${where}.${key}`);
  }
}

type Fields = Readonly<Record<string, 'string' | 'boolean' | 'number'>>;

interface BlockShape {
  readonly required: Fields;
  readonly optional: Fields;
}

const SHAPES: Readonly<Record<ContentBlock['type'], BlockShape>> = {
  text: { required: { text: 'string' }, optional: {} },
  tool_call: {
    required: { id: 'string', name: 'string' },
    optional: { description: 'string' },
  },
  tool_response: {
    required: { callId: 'string', toolName: 'string' },
    optional: { error: 'string', isComplete: 'boolean', mediaTokens: 'number' },
  },
  media: {
    required: { mimeType: 'string', data: 'string', encoding: 'string' },
    optional: { caption: 'string', filename: 'string' },
  },
  thinking: {
    required: { thought: 'string' },
    optional: {
      isHidden: 'boolean',
      sourceField: 'string',
      signature: 'string',
      encryptedContent: 'string',
    },
  },
  code: { required: { code: 'string' }, optional: { language: 'string' } },
  opaque: { required: { kind: 'string', tokens: 'number' }, optional: { callId: 'string' } },
};

function assertBlock(block: Readonly<Record<string, unknown>>, where: string): void {
  const { type } = block;
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type)) {
    fail(`${where}.type`, `one of ${Object.keys(SHAPES).join(', ')}`, type);
  }
  const shape = SHAPES[type as ContentBlock['type']];
  for (const [key, expected] of Object.entries(shape.required)) {
    if (typeof block[key] !== expected) fail(`${where}.${key}`, `a ${expected}`, block[key]);
  }
  for (const [key, expected] of Object.entries(shape.optional)) {
    const value = block[key];
    if (value !== undefined && typeof value !== expected) {
      fail(`${where}.${key}`, `a ${expected} or nothing`, value);
    }
  }
  if (type === 'media' && block['encoding'] !== 'url' && block['encoding'] !== 'base64') {
    fail(`${where}.encoding`, "'url' or 'base64'", block['encoding']);
  }
  const key = claimKeyOf(block);
  if (key !== undefined && !(Number.isInteger(block[key]) && Number(block[key]) >= 0)) {
    fail(`${where}.${key}`, 'an integer of 0 or more', block[key]);
  }
}

/** The field in which a block says how many tokens it takes for what is not in it. */
function claimKeyOf(block: Readonly<Record<string, unknown>>): string | undefined {
  if (block['type'] === 'opaque') return 'tokens';
  return block['mediaTokens'] === undefined || block['type'] !== 'tool_response'
    ? undefined
    : 'mediaTokens';
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

  #assertPlain(value: object): void {
    if (types.isProxy(value)) this.#refuse('a Proxy');
    if (Array.isArray(value)) return;
    const prototype: unknown = Object.getPrototypeOf(value);
    // A plain object of another realm has that realm's Object.prototype, whose own prototype is null.
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
      this.#refuse(kindOf(value));
    }
  }

  #visit(value: unknown): void {
    this.#addValues(1);
    switch (typeof value) {
      case 'string':
        this.#addCharacters(value.length);
        return;
      case 'number':
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
    // Counted before they are visited: a sparse array can claim billions of elements.
    this.#addValues(values.length);
    this.#values -= values.length;
    for (let at = 0; at < values.length; at += 1) {
      this.#path.push(at);
      this.#visit(values[at]);
      this.#path.pop();
    }
  }

  #visitProperties(record: object): void {
    for (const key of Object.keys(record)) {
      this.#addCharacters(key.length);
      this.#path.push(key);
      this.#visit(this.#read(record as Readonly<Record<string, unknown>>, key));
      this.#path.pop();
    }
  }

  #read(record: Readonly<Record<string, unknown>>, key: string): unknown {
    try {
      return record[key];
    } catch (cause) {
      return this.#refuse('a getter that throws', { cause });
    }
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

function asObject(
  value: unknown,
  where: string,
  expected: string,
): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    fail(where, expected, value);
  }
  return value as Readonly<Record<string, unknown>>;
}

function fail(path: string, expected: string, value: unknown): never {
  throw new TypeError(`Expected ${expected} at ${path}, got ${kindOf(value)}.`);
}

function kindOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return shownString(value);
    case 'object':
      return value === null ? 'null' : kindOfObject(value);
    case 'number':
      return `the number ${value}`;
    case 'undefined':
      return 'undefined';
    default:
      return `a ${typeof value}`;
  }
}

function shownString(value: string): string {
  const shown = shownText(value);
  return shown.startsWith('"') ? `the string ${shown}` : shown;
}

function kindOfObject(value: object): string {
  if (Array.isArray(value)) return 'an array';
  const prototype = Object.getPrototypeOf(value) as { readonly constructor?: unknown } | null;
  const name = typeof prototype?.constructor === 'function' ? prototype.constructor.name : 'Object';
  return name === 'Object' ? 'an object' : `an instance of ${name}`;
}
