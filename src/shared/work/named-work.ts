// How the record of work names a call, and which thing it says the call has made. Pure; reads only the start of arguments and results.

import { keyOfCall, SPENT_TEXT } from '../call-name.js';
import type { ToolCallBlock, ToolResponseBlock } from '../content.js';
import { isBlank } from '../content.js';
import { runIn } from '../density/index/call-use.js';
import type { CallUse } from '../density/index/call-use.js';
import { isExcerpt } from '../density/index/excerpt.js';
import { sentText } from '../density/index/readable-text.js';
import { identityFields } from '../density/index/identity-fields.js';
import { asRecord } from '../json.js';
import { textOfResult } from '../outcome.js';
import { EXCERPT, placeholderKind } from '../placeholder.js';
import { changesSomething, wordsOfTool } from '../tool-words.js';
import { onOneLine, shortened } from '../shown-text.js';
import { withoutSeparators } from './work-ledger.js';

const MAX_NAME = 200;

/** Returns the name of a call in the record: its command and where it runs, or its tool with its file or its short arguments. */
export function nameOfUse(call: ToolCallBlock, { command, paths, place }: CallUse): string {
  if (command !== undefined) return nameAt(runIn(command), place);
  return nameOf(`${call.name} ${paths.length > 0 ? (keyOfCall(call) ?? '') : argumentsOf(call)}`);
}

/** In UTF-16 units: longer arguments are content; and the maximum length of all arguments in a name. */
const MAX_ARGUMENT = 80;
const MAX_ARGUMENTS = 140;

/** The short arguments of a call, with their names unless there is only one, a string. Includes numbers, which may tell tickets apart. */
function argumentsOf(call: ToolCallBlock): string {
  const short = Object.entries(asRecord(call.parameters) ?? {}).flatMap(([name, value]) => {
    const said = shortArgument(value);
    return said === undefined ? [] : [{ said: `${name}: ${said}`, value }];
  });
  if (short.length < 2 && (short.length === 0 || typeof short[0]?.value === 'string')) {
    return keyOfCall(call) ?? '';
  }
  let left = MAX_ARGUMENTS;
  // The shortest ones first: what tells two calls apart is short, such as a number or `dry_run`.
  const fitting = [...short]
    .sort((a, other) => a.said.length - other.said.length)
    .filter(({ said }) => (left -= said.length + 2) >= 0);
  return short.flatMap((each) => (fitting.includes(each) ? each.said : [])).join(', ');
}

/** An argument as short text, also for a list of scalars such as ids; `undefined` for content. */
function shortArgument(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    const said = value
      .slice(0, MAX_ARGUMENT)
      .map((each) => (typeof each === 'object' ? undefined : shortArgument(each)));
    if (said.length === 0 || said.includes(undefined)) return undefined;
    return shortened(said.join(', '), MAX_ARGUMENT);
  }
  const isShort =
    typeof value === 'string' &&
    !isBlank(value) &&
    value.length <= MAX_ARGUMENT &&
    !value.startsWith(SPENT_TEXT);
  return isShort ? value : undefined;
}

/** Returns a text with where it acts: the same one elsewhere is another one. */
export function nameAt(text: string, place: CallUse['place']): string {
  return nameOf(place === undefined ? text : `${text} [${place}]`);
}

/** Returns the name of a file. Tools and commands spell it with either kind of slash on Windows. */
export function fileAt(path: string, place: CallUse['place']): string {
  return nameAt(path.replaceAll('\\', '/'), place);
}

/** Returns a name on one line, a long one shortened to its start and end, which distinguish it best. */
export function nameOf(text: string): string {
  const line = withoutSeparators(onOneLine(text));
  if (line.length <= MAX_NAME) return line;
  const end = onOneLine(text.slice(-MAX_NAME / 4));
  return `${shortened(line, MAX_NAME - end.length)}${end}`;
}

const MAX_MADE = 100;

/**
 * Returns, as JSON, the fields of a result that identify the thing a call made (such as an order number) and its state, without values
 * that the arguments contain; of what a tool that changes something says, the first line if it names an id. Empty if there are none.
 * Recorded because the placeholder of the result may not say it any more.
 */
export function madeIn({ name, parameters }: ToolCallBlock, response: ToolResponseBlock): string {
  const made = answersIn(name, response).map((object) => identityFields(object, MAX_MADE, true));
  const found = made.find((fields) => fields !== '');
  if (found === undefined) return changesSomething(name) ? firstLineWithId(response) : '';
  const told = new Set(Object.values(asRecord(parameters) ?? {}).map(String));
  // Not parsed as JSON, because long numbers would lose precision.
  const others = Array.from(found.matchAll(IDENTITY_FIELD), ([field, text, number]) =>
    told.has(text ?? number ?? '') ? '' : field,
  ).filter((field) => field !== '');
  return others.length === 0 ? '' : `{${others.join(',')}}`;
}

/** What texts call an id, with one that has a digit; an id such as `ENG-12` or `#12`. */
const ID =
  /\b(?:[Ii]d|ID|[Nn]umber|[Rr]eference|[Cc]onfirmation|[Cc]ode)\b[^\w\n]{1,4}[\w-]{0,40}\d|\b[A-Z][A-Z\d]{0,9}-\w{0,20}\d|#\d/;

/** The first line of a text that names an id, such as "Email queued. Message id: M-12", of which the last line need not tell. */
function firstLineWithId(response: ToolResponseBlock): string {
  const { result } = response;
  const isWhole = placeholderKind(response) === 'none' && !isExcerpt(result);
  const text = isWhole ? textOfResult(result).slice(0, MAX_WRAPPED).trimStart() : '';
  const line = text.startsWith('{') ? '' : (text.split('\n', 1)[0] ?? '');
  return ID.test(line) ? shortened(onOneLine(line), MAX_MADE) : '';
}

/** The JSON object of a result, and the objects in it that are its first field or whose key is a word of the tool's name. */
function answersIn(toolName: string, response: ToolResponseBlock): readonly string[] {
  const payload = objectIn(response);
  const words = wordsOfTool(toolName);
  const wrapped = [...payload.slice(0, MAX_WRAPPED).matchAll(WRAPPED)].filter(
    ({ index, groups }, at) =>
      (at === 0 && payload.slice(1, index).trim() === '') ||
      words.includes(groups?.['key']?.toLowerCase() ?? ''),
  );
  return [
    payload,
    ...wrapped.map(({ 0: wrapper, index }) => payload.slice(index + wrapper.length)),
  ];
}

const IDENTITY_FIELD = /"\w+":(?:"([^"]*)"|([^",}]+))/g;

/** The JSON object that a result is or that its excerpt quotes; empty for other results. */
function objectIn({ result }: ToolResponseBlock): string {
  const payload = isExcerpt(result) ? objectInExcerpt(String(result)) : sentText(result);
  return payload.startsWith('{') ? payload : '';
}

/** The identifying fields that an excerpt holds of an object, or else the start that it quotes. */
function objectInExcerpt(excerpt: string): string {
  const [, held] = excerpt.split(EXCERPT.held);
  const [, began] = excerpt.split(EXCERPT.began);
  return (held ?? began ?? '').split('\n', 1)[0] ?? '';
}

/** The key of a nested object; and how much of a result is searched for one, in UTF-16 units. */
const WRAPPED = /"(?<key>[^"]{0,80})"\s{0,20}:\s{0,20}(?=\{)/g;
const MAX_WRAPPED = 1_000;
