// Estimates what a request holds besides its messages, for the adapters that see it. The estimate is used until usage is reported.

import { isPlainObject, isRecord } from '../../shared/json.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';

/** Memoized number of characters by object: most hosts pass the same tools with each call. */
const KNOWN = new WeakMap<object, number>();

/**
 * Returns the estimated tokens of parts of a request: texts, and lists of texts, blocks and tools. Of a tool object made by an SDK,
 * only the fields that are sent count, as far as they can be read. Never throws.
 */
export function overheadOf(...parts: readonly unknown[]): number {
  let characters = 0;
  for (const item of parts.flat()) {
    if (typeof item === 'string') characters += item.length;
    else if (typeof item === 'object' && item !== null) characters += charactersOf(item);
  }
  return tokensOfCharacters(characters);
}

function charactersOf(item: object): number {
  const known = KNOWN.get(item);
  if (known !== undefined) return known;
  const characters = jsonOf(item).length;
  KNOWN.set(item, characters);
  return characters;
}

function jsonOf(item: object): string {
  try {
    const { name, description, schema } = item as Readonly<Record<string, unknown>>;
    const sent = isPlainObject(item) ? item : { name, description, schema };
    return JSON.stringify(sent, plainOrSchema);
  } catch {
    // Counts as 0 until reported usage corrects the estimate.
    return '';
  }
}

/** Omits objects of libraries, except for schemas that can express themselves as JSON. */
function plainOrSchema(_key: string, value: unknown): unknown {
  if (!isRecord(value) || isPlainObject(value)) return value;
  const { toJSONSchema } = value;
  return typeof toJSONSchema === 'function' ? (toJSONSchema.call(value) as unknown) : undefined;
}
