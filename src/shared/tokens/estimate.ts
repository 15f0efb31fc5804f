// The estimates that stand in until an exact count arrives: of texts by their words, of what is only measured by its
// characters. Payloads are measured, never turned into text.

import type { ContentBlock, IContent, ToolResponseBlock } from '../content.js';
import { overEntries } from '../ingestion.js';
import { blockParts, fixedEntryTokens, payloadText } from './content-text.js';
import { TextEncoder } from 'node:util';
import { readCharacterClasses } from './character-classes.js';
import { WordScanner } from './word-scanner.js';

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

/**
 * Tokens by sort of word, in o200k. Fitted to 52 recorded sessions of seven agents, of each of which all entries together are
 * then within 5 %, and to the messages of a compiler in 13 languages, most of which are within 30 %.
 */
const WORD = 1;
/** More for a word without a blank before it, as most tokens have one. */
const WITHOUT_BLANK = 0.33;
const LETTER_BEYOND_USUAL = 0.21;
const USUAL_LETTERS = 6;
/** Of a character that is not ASCII. */
const FOREIGN_BYTE = 0.13;
const MAX_FOREIGN_BYTES = 90;
const NUMBER_OR_SPACE = 1.03;
const SYMBOLS = 0.58;
const SYMBOL_AGAIN = 1.15;
const MAX_SYMBOLS_AGAIN = 20;

const CHUNK_UNITS = 4096;
const BLANK = 0x20;

let scanner: WordScanner | undefined;
const encoder = new TextEncoder();
let buffer: Uint8Array<ArrayBuffer> | undefined;

/** Tokens of a text, a fraction, in some 5 ns for a character. */
export function estimateTextTokens(text: string): number {
  scanner ??= new WordScanner(readCharacterClasses());
  buffer ??= new Uint8Array(CHUNK_UNITS * 3);
  let tokens = 0;
  for (let at = 0; at < text.length; at += CHUNK_UNITS) {
    const { written } = encoder.encodeInto(text.slice(at, at + CHUNK_UNITS), buffer);
    for (let start = 0; start < written;) {
      const end = scanner.endOf(buffer, start, written);
      tokens += estimateWord(buffer, start, end);
      start = end;
    }
  }
  return tokens;
}

function estimateWord(bytes: Uint8Array, start: number, end: number): number {
  let letters = 0;
  let symbols = 0;
  let again = 0;
  let foreign = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const small = byte | 0x20;
    if (byte >= 0x80) foreign += 1;
    else if (small >= 0x61 && small <= 0x7a) letters += 1;
    else if (byte > BLANK && (byte < 0x30 || byte > 0x39)) {
      symbols += 1;
      if (at > start && byte === bytes[at - 1]) again += 1;
    }
  }
  const foreignTokens = Math.min(foreign, MAX_FOREIGN_BYTES) * FOREIGN_BYTE;
  if (letters > 0 || (foreign > 0 && symbols === 0)) {
    const beyond = Math.max(0, letters - USUAL_LETTERS) * LETTER_BEYOND_USUAL;
    return WORD + (bytes[start] === BLANK ? 0 : WITHOUT_BLANK) + beyond + foreignTokens;
  }
  return symbols > 0
    ? SYMBOLS + Math.min(again, MAX_SYMBOLS_AGAIN) * SYMBOL_AGAIN + foreignTokens
    : NUMBER_OR_SPACE;
}
