// Tolerant access to parsed JSON of unknown shape: a field of the wrong type counts as absent. Nothing
// throws. Arguments from a host are checked by misuse.ts instead.

import { shortened } from './shown-text.js';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** The value if it is an object and not an array. */
export function asRecord(value: unknown): JsonRecord | undefined {
  return isRecord(value) ? value : undefined;
}

/** Whether a value is an object and not an array. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether an object is no instance of a class: its prototype is `null`, or the `Object.prototype` of any realm. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The value if it is an array, else an empty array. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** The value if it is a string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The value if it is a string that is not blank. */
export function asFilledText(value: unknown): string | undefined {
  return typeof value === 'string' && /\S/.test(value) ? value : undefined;
}

/** A copy without the fields that are `undefined`. */
export function withoutUndefined<T extends object>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The parsed text, or `undefined` if it is not valid JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Yields the top-level fields with short scalar values of a JSON object that may be cut off or malformed, each value as JSON. */
export function* fieldsOf(json: string): Generator<readonly [name: string, value: string]> {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    else if (character === '"') {
      const end = endOfString(json, at);
      VALUE.lastIndex = end;
      const value = depth === 1 ? VALUE.exec(json)?.[1] : undefined;
      if (value !== undefined) yield [json.slice(at + 1, end - 1), value];
      at = end - 1;
    }
    if (depth === 0) return;
  }
}

/** The index after the closing quote of the string that starts at `start`, in valid JSON. */
export function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length && json.charCodeAt(at) !== QUOTE; at += 1) {
    if (json.charCodeAt(at) === BACKSLASH) at += 1;
  }
  return at + 1;
}

/** What follows a field's name: a boolean, a number, or a string of at most 100 characters without escapes. */
const VALUE = /\s*:\s*("[^"\\]{0,100}"|-?\d[\d.eE+-]{0,30}|true|false)(?=\s*[,}])/y;
const [QUOTE, BACKSLASH] = [0x22, 0x5c];

/** The arguments of a recorded call; a text is parsed if it is JSON. */
export function parseArguments(recorded: unknown): unknown {
  if (typeof recorded !== 'string') return recorded ?? {};
  if (!/\S/.test(recorded)) return {};
  const parsed = tryParseJson(recorded);
  return parsed === undefined ? recorded : parsed;
}

/**
 * Joins, as lines, the texts of content that is a string or a list of text parts; `undefined` if it holds anything else. A
 * part is text if its `type` ends in `text` or is absent.
 */
export function textOfParts(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  const texts: string[] = [];
  for (const part of content as readonly unknown[]) {
    const record = asRecord(part);
    const type = record?.['type'];
    const isText = type === undefined || (typeof type === 'string' && type.endsWith('text'));
    const text = typeof part === 'string' ? part : isText ? asText(record?.['text']) : undefined;
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts.join('\n');
}

/** The first non-blank line of a failed tool's output, at most 200 characters. */
export function errorLine(output: unknown): string {
  const text = textOfParts(output) ?? '';
  const line = /\S[^\r\n]*/.exec(text)?.[0].trimEnd();
  return line === undefined ? 'The tool failed.' : shortened(line, 200);
}
