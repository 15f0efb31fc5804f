// The fast path of `ingestion.ts`: accepts most valid entries at a third of the cost. If it returns `false`, the entry may
// still be valid; `ingestion.ts` decides and reports what is wrong. Runs no code of an entry and allocates next to nothing.

import { types } from 'node:util';
import { assertBlock, assertSpeaker, tokensKeyOf } from './entry-shape.js';
import type { ContentBlock, IContent } from './content.js';
import type { IngestionLimits } from './ingestion-limits.js';
import { isRecord } from './json.js';

/** Deeper values may be circular and are left to the slow path. */
const MAX_SURE_DEPTH = 16;

// The state of the current check. Module variables, so that no object is allocated; checks are synchronous.
let characters = 0;
let values = 0;
let depthsLeft = 0;
let maxValues = 0;

/** Whether `assertIngestible` certainly accepts an entry. */
export function isSurelyIngestible(content: unknown, limits: IngestionLimits): boolean {
  begin(limits);
  try {
    return isSureEntry(content) && isWithin(limits);
  } catch {
    // An invalid block or a stack overflow; the slow path reports it.
    return false;
  }
}

/**
 * `isSurelyIngestible` for an entry made by a reader: its blocks are new objects with known fields, so only their values can
 * be foreign.
 */
export function isMadeSurelyIngestible(
  { blocks, metadata }: IContent,
  limits: IngestionLimits,
): boolean {
  for (const _ in NOTHING) return false;
  begin(limits);
  try {
    return (
      (metadata === undefined || isSure(metadata)) &&
      blocks.every(isSureMadeBlock) &&
      isWithin(limits)
    );
  } catch {
    return false;
  }
}

function isSureMadeBlock(block: ContentBlock): boolean {
  const fields = block as unknown as Readonly<Record<string, unknown>>;
  for (const key in fields) {
    // Two numbers that the reader itself wrote.
    if (key === 'origin') continue;
    const value = fields[key];
    characters += key.length;
    if (value === undefined) values += 1;
    else if (!isSure(value)) return false;
  }
  values += 1;
  if (block.type === 'text' && typeof block.text === 'string') return true;
  assertBlock(fields, '');
  const claim = tokensKeyOf(fields);
  if (claim !== undefined) characters += Number(fields[claim]);
  return true;
}

function begin(limits: IngestionLimits): void {
  characters = 0;
  values = 0;
  depthsLeft = Math.min(MAX_SURE_DEPTH, limits.maxDepth);
  ({ maxValues } = limits);
}

function isWithin(limits: IngestionLimits): boolean {
  return characters <= limits.maxCharacters && values <= maxValues;
}

function isSureEntry(content: unknown): boolean {
  // Enumerable properties that someone added to Object.prototype would show up in every object.
  for (const _ in NOTHING) return false;
  if (!isRecord(content) || !isPlainRecord(content)) return false;
  let parts = 0;
  for (const key in content) {
    if (lookupGetter.call(content, key) !== undefined) return false;
    const value = content[key];
    if (key === 'speaker') assertSpeaker(value, '');
    else if (key === 'blocks') {
      if (!areSureBlocks(value)) return false;
    } else {
      if ((key === 'metadata' && !isRecord(value)) || !isSure(value)) return false;
      continue;
    }
    parts += 1;
  }
  return parts === 2;
}

function areSureBlocks(blocks: unknown): boolean {
  if (!Array.isArray(blocks) || !isPlainArray(blocks)) return false;
  for (let at = 0; at < blocks.length; at += 1) {
    const block: unknown = blocks[at];
    if (!isRecord(block) || !isSure(block)) return false;
    assertBlock(block, '');
    const key = tokensKeyOf(block);
    if (key !== undefined) characters += Number(block[key]);
  }
  return true;
}

function isSure(value: unknown): boolean {
  values += 1;
  switch (typeof value) {
    case 'string':
      characters += value.length;
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
      return true;
    case 'object':
      return value === null || isSureObject(value);
    default:
      return false;
  }
}

function isSureObject(value: object): boolean {
  if (depthsLeft === 0) return false;
  depthsLeft -= 1;
  const isSureInside = Array.isArray(value) ? areSureElements(value) : areSureProperties(value);
  depthsLeft += 1;
  return isSureInside;
}

function areSureElements(elements: readonly unknown[]): boolean {
  if (!isPlainArray(elements)) return false;
  for (let at = 0; at < elements.length; at += 1) if (!isSure(elements[at])) return false;
  return true;
}

function areSureProperties(record: object): boolean {
  if (!isPlainRecord(record)) return false;
  for (const key in record) {
    if (lookupGetter.call(record, key) !== undefined) return false;
    characters += key.length;
    const value = (record as Readonly<Record<string, unknown>>)[key];
    if (value === undefined) {
      if (lookupSetter.call(record, key) !== undefined) return false;
      values += 1;
    } else if (!isSure(value)) return false;
  }
  return true;
}

function isPlainRecord(record: object): boolean {
  if (types.isProxy(record)) return false;
  const prototype: unknown = Object.getPrototypeOf(record);
  return (prototype === Object.prototype || prototype === null) && !('callee' in record);
}

/** Whether an array is within the limits and has only elements, none of them a getter. */
function isPlainArray(elements: readonly unknown[]): boolean {
  if (types.isProxy(elements) || Object.getPrototypeOf(elements) !== Array.prototype) return false;
  const { length } = elements;
  if (values + length > maxValues) return false;
  for (let at = 0; at < length; at += 1) {
    if (lookupGetter.call(elements, at) !== undefined) return false;
  }
  return Object.keys(elements).length === length && !Object.hasOwn(elements, Symbol.iterator);
}

const NOTHING: object = {};

type Lookup = (this: unknown, key: PropertyKey) => unknown;
const { __lookupGetter__: lookupGetter, __lookupSetter__: lookupSetter } =
  Object.prototype as unknown as {
    readonly __lookupGetter__: Lookup;
    readonly __lookupSetter__: Lookup;
  };
