// Names for calls: the key parameter, and the name by which other results refer to a call. Reads a bounded part of the arguments.

import type { ToolCallBlock } from './content.js';
import { asRecord } from './json.js';
import type { JsonRecord } from './json.js';
import { shownToolName } from './placeholder.js';
import { onOneLine, ordinal, shortened } from './shown-text.js';

/** The beginning of the note that replaces a spent text in a call's arguments. */
export const SPENT_TEXT = '[left out: ';
/** A longer parameter is content, not a name. */
const MAX_SHORT_PARAMETER_LENGTH = 120;

/** Parameters that hold a path. */
export const PATH_KEYS = ['file_path', 'absolute_path', 'path'] as const;
const COMMAND_KEYS = ['command', 'cmd'] as const;

/**
 * Returns the key parameter of a call on one line, at most 400 UTF-16 units; `undefined` if it has none.
 */
export function keyOfCall({ parameters }: ToolCallBlock): string | undefined {
  const values = asRecord(parameters);
  if (values === undefined) return undefined;
  return firstText(values, PATH_KEYS) ?? firstText(values, COMMAND_KEYS) ?? firstShortText(values);
}

/** UTF-16 units of the key parameter in a call's name. */
const MAX_NAMED_KEY = 40;

/**
 * Returns the name by which other results refer to a call: its tool and key parameter (the end of a long path) on one line. Stays the
 * same when spent texts in its arguments are left out.
 */
export function callName(call: ToolCallBlock | undefined): string {
  if (call === undefined) return 'another call';
  const tool = shownToolName(call.name);
  const key = keyOfCall(call);
  if (key === undefined) return tool;
  const isLongPath = key.length > MAX_NAMED_KEY && !key.includes(' ');
  return `${tool} ${isLongPath ? `…${endOf(key)}` : shortened(key, MAX_NAMED_KEY)}`;
}

/** `nameWithPosition` counts among this many calls before a result; a call farther back is named without its position. */
export const MAX_CALLS_BACK = 200;

/** Returns a call's name; if later calls share it, adds which one is meant, counted back from the call that refers to it. */
export function nameWithPosition(name: string, laterCalls: number): string {
  if (laterCalls === 0) return name;
  return `${name} (the ${ordinal(laterCalls + 1)} back)`;
}

/** The end of a long key, without half of a surrogate pair, which providers refuse. */
function endOf(key: string): string {
  return key.slice(1 - MAX_NAMED_KEY).replace(/^\p{Surrogate}/u, '');
}

/** The first text under one of these keys, on one line. */
export function firstText(values: JsonRecord, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = wordsOf(values[key]);
    if (text !== '') return text;
  }
  return undefined;
}

/** A text, or a list of words, on one line; empty for anything else. */
function wordsOf(value: unknown): string {
  if (typeof value === 'string') return onOneLine(value);
  if (!Array.isArray(value) || !value.every((word) => typeof word === 'string')) return '';
  return onOneLine(value.join(' '));
}

function firstShortText(values: JsonRecord): string | undefined {
  for (const value of Object.values(values)) {
    if (typeof value !== 'string' || value.length > MAX_SHORT_PARAMETER_LENGTH) continue;
    if (value.startsWith(SPENT_TEXT)) continue;
    const text = onOneLine(value);
    if (text !== '') return text;
  }
  return undefined;
}
