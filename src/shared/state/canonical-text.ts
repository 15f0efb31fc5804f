// Canonical texts: values that are equal as JSON have the same text, regardless of the order of keys. Used for hashes and for
// comparisons between processes.

import type { ContentBlock, IContent } from '../content.js';

const FEW_KEYS = 8;

/** The canonical text of a block, without `origin`, an adapter's reference to its source. */
export function textOfBlock(block: ContentBlock): string {
  return textOfFields(block as unknown as Readonly<Record<string, unknown>>, 'origin');
}

/** The canonical text of an entry's speaker and blocks. Omits metadata, which callers may change. */
export function textOfEntry({ speaker, blocks }: IContent): string {
  let text = `${speaker}${blocks.length}`;
  for (let at = 0; at < blocks.length; at += 1) text += textOfBlock(blocks[at] as ContentBlock);
  return text;
}

/** The canonical text of an object's fields. @param without a field to omit */
export function textOfFields(record: Readonly<Record<string, unknown>>, without?: string): string {
  let text = '{';
  for (const key of sortedKeys(record)) {
    const value = record[key];
    // JSON omits `undefined`.
    if (value === undefined || key === without) continue;
    text += `${key.length}:${key}${textOf(value)}`;
  }
  return `${text}}`;
}

/** Uses insertion sort for up to `FEW_KEYS` keys, which most objects have: `sort` is slower for them. */
function sortedKeys(record: object): readonly string[] {
  const keys = Object.keys(record);
  if (keys.length > FEW_KEYS) return keys.sort();
  for (let next = 1; next < keys.length; next += 1) {
    const key = keys[next] as string;
    let at = next;
    for (; at > 0 && (keys[at - 1] as string) > key; at -= 1) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

/** Strings are prefixed with their lengths, so that no string can imitate a structure. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return `${value.length}"${value}`;
  if (typeof value !== 'object' || value === null) return `${String(value)};`;
  if (!Array.isArray(value)) return textOfFields(value as Readonly<Record<string, unknown>>);
  let text = '[';
  for (const element of value as readonly unknown[]) text += textOf(element);
  return `${text}]`;
}
