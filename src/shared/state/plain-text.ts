// What a value says, as one text: equal for values that are the same as JSON, whatever the order of their keys. What is
// hashed and compared between processes goes through here.

import type { ContentBlock, IContent } from '../content.js';

const FEW_KEYS = 8;

/** What a block says. Where an adapter has it from is no part of that. */
export function textOfBlock(block: ContentBlock): string {
  return textOfFields(block as unknown as Readonly<Record<string, unknown>>, 'origin');
}

/** What an entry says: speaker and blocks. What is known about it besides is for the caller to change. */
export function textOfEntry({ speaker, blocks }: IContent): string {
  let text = `${speaker}${blocks.length}`;
  for (let at = 0; at < blocks.length; at += 1) text += textOfBlock(blocks[at] as ContentBlock);
  return text;
}

function textOfFields(record: Readonly<Record<string, unknown>>, without?: string): string {
  let text = '{';
  for (const key of sortedKeys(record)) {
    const value = record[key];
    // JSON leaves it out.
    if (value === undefined || key === without) continue;
    text += `${key.length}:${key}${textOf(value)}`;
  }
  return `${text}}`;
}

/** In place: most objects have a handful, which is not worth a call of `sort`. */
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

/** Lengths stand in front of texts, so that no text can look like a structure. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return `${value.length}"${value}`;
  if (typeof value !== 'object' || value === null) return `${String(value)};`;
  if (!Array.isArray(value)) return textOfFields(value as Readonly<Record<string, unknown>>);
  let text = '[';
  for (const element of value as readonly unknown[]) text += textOf(element);
  return `${text}]`;
}
