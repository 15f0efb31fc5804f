// The cheap estimate that stands in until an exact count arrives: characters over a constant ratio.
// Payloads are measured, never turned into text.

import type { ContentBlock, IContent, ToolResponseBlock } from '../content.js';
import { overEntries } from '../ingestion.js';
import { fixedEntryTokens, payloadText } from './content-text.js';

/**
 * Characters per token. Source: OpenAI's help centre, "What are tokens and how to count them" (one
 * token is about 4 characters of English). 6 to 17 % off on agent histories, and far more on
 * scripts other than Latin; a ratio learned from reported usage corrects it.
 */
export const CHARACTERS_PER_TOKEN = 4;

/** Values of a payload beyond this many are not measured. Nothing larger passes ingestion; it also ends a cycle. */
const MAX_VALUES = 1_000_000;

/** About how many tokens an entry has: its characters over 4, rounded up, and its constants. @throws TypeError for what is no entry. */
export function estimateEntryTokens(entry: IContent): number {
  return overEntries(
    'the entry',
    [entry],
    () => tokensOfCharacters(entryCharacters(entry)) + fixedEntryTokens(entry),
  );
}

/** About how many tokens so many UTF-16 units of text are. */
export function tokensOfCharacters(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** About how many tokens a payload has as text; nothing of it is known but its characters. */
export function estimatePayloadTokens(payload: unknown): number {
  return tokensOfCharacters(payloadText(payload).length);
}

/** About how many tokens the result of a response has, with the media in it. Measured, never turned into text. */
export function estimateResultTokens({
  result,
  mediaTokens,
}: Pick<ToolResponseBlock, 'result' | 'mediaTokens'>): number {
  return tokensOfCharacters(payloadCharacters(result)) + (mediaTokens ?? 0);
}

/** UTF-16 units in the texts of an entry; JSON payloads are measured to within their escapes. */
export function entryCharacters(entry: IContent): number {
  let characters = 0;
  for (const block of entry.blocks) characters += blockCharacters(block);
  return characters;
}

function blockCharacters(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'code':
      return block.code.length + lengthOf(block.language);
    case 'thinking':
      return block.thought.length;
    case 'tool_call':
      return block.name.length + payloadCharacters(block.parameters);
    case 'tool_response':
      return block.toolName.length + payloadCharacters(block.result) + lengthOf(block.error);
    case 'media':
      return lengthOf(block.caption) + lengthOf(block.filename);
    case 'opaque':
      return 0;
  }
}

function lengthOf(text: string | undefined): number {
  return text?.length ?? 0;
}

function payloadCharacters(payload: unknown): number {
  if (typeof payload === 'string') return payload.length;
  let characters = 0;
  // A stack instead of recursion: depth costs nothing, and the one limit is on values.
  const pending: unknown[] = [payload];
  for (let values = 0; pending.length > 0 && values < MAX_VALUES; values += 1) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) characters += scalarCharacters(value);
    else if (Array.isArray(value)) characters += 2 + pushItems(value, pending);
    else characters += 2 + pushMembers(value, pending);
  }
  return characters;
}

function pushItems(items: readonly unknown[], pending: unknown[]): number {
  // By index: an array that nobody has checked may have an iterator of its own, and billions of holes.
  const length = Math.min(items.length, MAX_VALUES);
  for (let at = 0; at < length; at += 1) pending.push(items[at]);
  return length;
}

function pushMembers(value: object, pending: unknown[]): number {
  let characters = 0;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    characters += key.length + 4;
    pending.push(item);
  }
  return characters;
}

function scalarCharacters(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2;
    case 'number':
    case 'bigint':
      return String(value).length;
    case 'boolean':
      return value ? 4 : 5;
    default:
      return value === null ? 4 : 0;
  }
}
