// The estimates that stand in until an exact count arrives: of texts by their words, of what is only measured by its
// characters. Payloads are measured, never turned into text.

import type { ContentBlock, IContent, ToolResponseBlock } from '../content.js';
import { overEntries } from '../ingestion.js';
import { blockParts, fixedEntryTokens, payloadText } from './content-text.js';
import { estimateTextTokens } from './estimate-text.js';

/**
 * Characters per token. Source: OpenAI's help centre, "What are tokens and how to count them" (one
 * token is about 4 characters of English). Up to 21 % off on agent histories, and far more on
 * scripts other than Latin: for what is known by its length alone.
 */
export const CHARACTERS_PER_TOKEN = 4;

/** Values of a payload beyond this many are not measured. Nothing larger passes ingestion; it also ends a cycle. */
const MAX_VALUES = 1_000_000;

/**
 * About how many tokens an entry has, by the words of its texts and its constants; in some 5 ns for a character. On recorded sessions within
 * 5 % for all entries together. @throws TypeError for what is no entry.
 */
export function estimateEntryTokens(entry: IContent): number {
  return overEntries(
    'the entry',
    [entry],
    () => Math.ceil(estimateEntryTextTokens(entry)) + fixedEntryTokens(entry),
  );
}

/** About how many tokens the texts of an entry have, a fraction. */
export function estimateEntryTextTokens(entry: IContent): number {
  let tokens = 0;
  for (const block of entry.blocks) {
    for (const part of blockParts(block)) {
      tokens +=
        typeof part === 'string'
          ? estimateTextTokens(part)
          : payloadCharacters(part, charactersOfWords) / CHARACTERS_PER_TOKEN;
    }
  }
  return tokens;
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

/** What a text in JSON weighs, in characters like those of the names, numbers and braces around it. */
function charactersOfWords(text: string): number {
  return estimateTextTokens(JSON.stringify(text).slice(1, -1)) * CHARACTERS_PER_TOKEN;
}

/** UTF-16 units in the texts of an entry; JSON payloads are measured to within their escapes. */
export function entryCharacters(entry: IContent): number {
  let characters = 0;
  for (const block of entry.blocks) characters += blockCharacters(block);
  return characters;
}

/** By itself and not by the list of parts: it is asked of each entry, and most are texts and calls. */
function blockCharacters(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'thinking':
      return block.thought.length;
    case 'tool_call':
      return block.name.length + payloadCharacters(block.parameters);
    case 'tool_response': {
      const { toolName, result, error = '' } = block;
      return toolName.length + payloadCharacters(result) + error.length;
    }
    default: {
      let characters = 0;
      for (const part of blockParts(block)) characters += payloadCharacters(part);
      return characters;
    }
  }
}

/** Characters of a payload as JSON, or as text if it is one; `ofText` says how many a text in JSON has without its quotes. */
function payloadCharacters(payload: unknown, ofText: (text: string) => number = lengthOf): number {
  if (typeof payload === 'string') return payload.length;
  let characters = 0;
  // A stack instead of recursion: depth costs nothing, and the one limit is on values.
  const pending: unknown[] = [payload];
  for (let values = 0; pending.length > 0 && values < MAX_VALUES; values += 1) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) characters += scalarCharacters(value, ofText);
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

function lengthOf(text: string): number {
  return text.length;
}

function scalarCharacters(value: unknown, ofText: (text: string) => number): number {
  switch (typeof value) {
    case 'string':
      return ofText(value) + 2;
    case 'number':
    case 'bigint':
      return String(value).length;
    case 'boolean':
      return value ? 4 : 5;
    default:
      return value === null ? 4 : 0;
  }
}
