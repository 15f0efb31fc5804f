// Says in one line what a tool response was, in place of its payload.

import type { ToolCallBlock, ToolResponseBlock } from '../content.js';
import { PRUNED_POINTER } from '../density.js';

const MAX_LENGTH = 200;
/** UTF-16 units of a text that are looked at: control characters among them take no room. */
const MAX_SEEN = MAX_LENGTH * 2;
const MAX_TOOL_NAME_LENGTH = 64;
/** A parameter longer than this is content, not a name of something. */
const MAX_SHORT_PARAMETER_LENGTH = 120;

const PATH_KEYS = ['file_path', 'absolute_path', 'path'] as const;
const COMMAND_KEYS = ['command', 'cmd'] as const;

/**
 * Returns `[<tool>: <key parameter> — <outcome>, <size>]`: one line without control characters, at
 * most 200 UTF-16 units long. The key parameter is the call's path, else its command, else its first
 * short string; without a call it is what the result itself tells. A result that is such a line
 * already is returned as it is.
 */
export function summarizeToolResponse(
  response: ToolResponseBlock,
  call: ToolCallBlock | undefined,
): string {
  if (isSummary(response)) return response.result;
  const tool = shortened(onOneLine(response.toolName), MAX_TOOL_NAME_LENGTH);
  const outcome = response.error ? 'error' : 'success';
  const size = call === undefined ? undefined : sizeOf(response.result);
  const end = ` — ${outcome}${size === undefined ? '' : `, ${size}`}]`;
  const key = call === undefined ? keyOfResult(response.result) : keyOfCall(call);
  if (key === undefined) return `[${tool}${end}`;
  const room = MAX_LENGTH - tool.length - end.length - '[: '.length;
  return `[${tool}: ${shortened(key, room)}${end}`;
}

function isSummary(
  response: ToolResponseBlock,
): response is ToolResponseBlock & { readonly result: string } {
  const { result, toolName } = response;
  return (
    typeof result === 'string' &&
    result.length <= MAX_LENGTH &&
    result === onOneLine(result) &&
    result.startsWith(`[${shortened(onOneLine(toolName), MAX_TOOL_NAME_LENGTH)}`) &&
    / — (?:success|error)(?:, \d+ (?:lines?|chars))?\]$/.test(result)
  );
}

function keyOfCall({ parameters }: ToolCallBlock): string | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined;
  const values = parameters as Readonly<Record<string, unknown>>;
  return firstText(values, PATH_KEYS) ?? firstText(values, COMMAND_KEYS) ?? firstShortText(values);
}

function firstText(
  values: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): string | undefined {
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

function firstShortText(values: Readonly<Record<string, unknown>>): string | undefined {
  for (const value of Object.values(values)) {
    if (typeof value !== 'string' || value.length > MAX_SHORT_PARAMETER_LENGTH) continue;
    const text = onOneLine(value);
    if (text !== '') return text;
  }
  return undefined;
}

function keyOfResult(result: unknown): string | undefined {
  if (typeof result === 'string') return sizeOf(result);
  if (typeof result !== 'object' || result === null) return undefined;
  const values = result as Readonly<Record<string, unknown>>;
  const path = firstText(values, PATH_KEYS);
  if (path !== undefined) return path;
  return typeof values['output'] === 'string' ? `${values['output'].length} chars` : undefined;
}

function sizeOf(result: unknown): string | undefined {
  if (result === PRUNED_POINTER) return undefined;
  if (typeof result === 'string') {
    const lines = countLines(result);
    return lines === 1 ? '1 line' : `${lines} lines`;
  }
  if (typeof result !== 'object' || result === null) return undefined;
  const { output } = result as { readonly output?: unknown };
  if (typeof output === 'string') return sizeOf(output);
  return `${JSON.stringify(result).length} chars`;
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Looks at no more of a text than a summary could show. */
function onOneLine(text: string): string {
  const start = text.length <= MAX_SEEN ? text : wholeCharacters(text.slice(0, MAX_SEEN));
  return start.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** Cuts at a whole character. */
function shortened(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${wholeCharacters(text.slice(0, maxLength - 1))}…`;
}

/** Leaves out what a cut has left of a last character, or what never was a whole one. */
function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}$/u, '');
}
