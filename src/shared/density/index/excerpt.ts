// What replaces pruned payloads: for a result, an excerpt of the names, paths and failures in it and
// of how it came out, below the placeholder; for the arguments of a write, a note in place of spent
// texts. Pure functions that read a bounded part of the payload.

import { SPENT_TEXT } from '../../call-name.js';
import type { ToolResponseBlock } from '../../content.js';
import { exitCodeOf, hasFailed, isOfHost, printedIn } from '../../outcome.js';
import { EXCERPT, isExcerptText, placeholderKind } from '../../placeholder.js';
import { onOneLine, shortened } from '../../shown-text.js';
import {
  countsFailures,
  mayReportFailure,
  placeAfter,
  reportsFailure,
} from '../../shrink/failures-first.js';
import { endOfNumber, saysShown } from '../../shrink/shown-before.js';
import { MAX_TELLING, saysLeftOut } from '../../shrink/shrinker.js';
import { estimateResultTokens, tokensOfCharacters } from '../../tokens/estimate.js';
import { identityFields, nextPageIn } from './identity-fields.js';
import { MAX_SEEN, namesIn, seenLines } from './names-in-text.js';
import { readableText, withMembersInLines } from './readable-text.js';
import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';

/** Results with fewer estimated tokens get no excerpt. */
const MIN_TOKENS = 40;
/** Estimated tokens of a placeholder. */
export const PLACEHOLDER_TOKENS = 16;
/** Length of the names in UTF-16 units: a share of the result, with a maximum. */
const NAMES_SHARE = 0.1;
const MAX_NAMES_LENGTH = 400;
/** Failure lines that are quoted, and UTF-16 units of each. */
const MAX_FAILURES = 2;
const MAX_FAILURE_LENGTH = 120;
/** Length of what it says of the outcome, the same way; JSON repeats its keys. */
const OUTCOME_SHARE = 0.25;
const MAX_OUTCOME_LENGTH = 100;
const MAX_JSON_LENGTH = 140;
/** A token of the next page is of use as a whole only. */
const MAX_NEXT_LENGTH = 240;

/** Stand-ins for a long result and for an excerpt where nothing else matters about them: no tool returns a BigInt. */
const LONG_RESULT = 0n;
const OLD_EXCERPT = 1n;

const NAMED_IN = new WeakMap<ToolResponseBlock, string>();

/**
 * Returns the replacement of a result: the placeholder, followed by the names and failures in it and
 * by how it came out. Cached: an edit may be found many times before it lands.
 */
export function excerptOfBlock(response: ToolResponseBlock, placeholder: string): string {
  let named = NAMED_IN.get(response);
  if (named === undefined) {
    named = namedIn(response);
    NAMED_IN.set(response, named);
  }
  return placeholder + named;
}

/** The part below the placeholder; empty if the result says nothing. */
function namedIn(response: ToolResponseBlock): string {
  const payload = readableText(response.result);
  const text = withoutNotes(withMembersInLines(payload));
  const room = Math.min(MAX_NAMES_LENGTH, NAMES_SHARE * payload.length);
  const links = linksIn(payload, room / 2);
  const taken = links.join(' ');
  const others = namesIn(text, room - taken.length).filter((name) => !taken.includes(name));
  const names = [...links, ...others];
  const named = names.length === 0 ? '' : EXCERPT.named + names.join(' ');
  const next = nextPageIn(payload, Math.min(MAX_NEXT_LENGTH, OUTCOME_SHARE * payload.length));
  const goesOn = next === '' ? '' : EXCERPT.goesOn + next;
  return named + endedAs(response, text, payload) + goesOn;
}

/** A text without the lines in which shrinking has said what it left out: they name other calls. */
function withoutNotes(text: string): string {
  return text.includes('[… ') ? text.replaceAll(NOTE, '') : text;
}

const NOTE = /^\[… [^\n]{1,400} …\]$/gm;

const LINK = /https?:\/\/[^\s"'<>()[\]{}|\\^`\u0080-\uffff]{4,}(?<![.,;:!?*])/g;
/** Longer ones lead on to others. */
const MAX_LINK_LENGTH = 120;
/** Fewer links, and fewer of a longer text, are not what it is about. */
const MIN_LINKS = 3;
const MIN_LINKS_SHARE = 0.04;
/** As browsers show the address of a page, above it. */
const ADDRESS = new RegExp(String.raw`^[^\n"{]{0,20}\bURL[^\w\n]{1,5}(${LINK.source})`, 'im');
const MAX_ABOVE = 600;

/** The first links of a text that consists of such, as what a search has found: the next call opens one. Of a page, its address. */
function linksIn(text: string, maxLength: number): readonly string[] {
  const seen = text.slice(0, MAX_SEEN);
  if (!seen.includes('://')) return [];
  const found = [...new Set(seen.match(LINK))];
  const length = found.join(' ').length;
  const areFew = found.length < MIN_LINKS || length < MIN_LINKS_SHARE * seen.length;
  const links = areFew ? (ADDRESS.exec(seen.slice(0, MAX_ABOVE))?.slice(1) ?? []) : found;
  let left = maxLength;
  return links.filter((link) => {
    const fits = link.length <= MAX_LINK_LENGTH && link.length + 1 <= left;
    if (fits) left -= link.length + 1;
    return fits;
  });
}

/** The first failures in a result and how it ended. Of a call that is not known to have failed, they are what it reported. */
function endedAs(response: ToolResponseBlock, text: string, payload: string): string {
  const isFailed = hasFailed(response);
  const [label, found] = outcomeIn(payload, Math.floor(OUTCOME_SHARE * payload.length));
  const failures = failuresIn(text).map((line) => shortened(onOneLine(line), MAX_FAILURE_LENGTH));
  const sum = isFailed || failures.length > 0 ? sumOfFailures(payload) : '';
  // An error beside the result stays.
  const isSilent = found === '' && isFailed && !response.error;
  const said = sum || (isSilent ? failureOf(response.result, payload) : found);
  const isNew = said !== '' && failures.every((line) => line.slice(0, 40) !== said.slice(0, 40));
  const sumsUp = sum !== '' || (!isFailed && (label !== EXCERPT.ended || OUTCOME.test(said)));
  const isShown = isNew && (failures.length === 0 || sumsUp);
  const first = isShown && !isFailed ? failures.slice(0, 1) : failures;
  const lines = first.map((line) => (isFailed ? EXCERPT.failed : EXCERPT.reported) + line);
  const end = sum === '' ? label : EXCERPT.ended;
  return [...lines, isShown ? (isFailed ? EXCERPT.failed : end) + said : ''].join('');
}

/**
 * What a result says of how its call ended, on one line: how it ends, behind the first failure in it. Empty if it does not say. Of an
 * excerpt, what that says.
 */
export function endingOf(response: ToolResponseBlock): string {
  const { result } = response;
  if (placeholderKind(response) !== 'none') return '';
  if (isExcerpt(result)) return [...String(result).matchAll(EXCERPT_END)].at(-1)?.[1] ?? '';
  const payload = readableText(printedIn(result) ?? result);
  const text = withoutNotes(withMembersInLines(payload));
  const end = sumOfFailures(payload) || outcomeIn(payload, MAX_OUTCOME_LENGTH)[1];
  const isData = OBJECT.test(payload);
  const failures = isData || countsFailures(end) ? [] : failuresIn(text).slice(0, 1);
  const said = failures.map((line) => shortened(onOneLine(line), MAX_OUTCOME_LENGTH));
  if (end !== '' && !said.includes(end)) said.push(end);
  return said.join(' … ').replaceAll(/\s+/g, ' ');
}

const EXCERPT_END = /\nIt (?:failed with|reported|began with|held|ended with): (.*)/g;

/** Where no line says that it has failed: the exit code, or the start. */
function failureOf(result: unknown, payload: string): string {
  const code = exitCodeOf(result);
  if (code !== undefined && code !== 0) return `exit code ${code}`;
  return shortened(onOneLine(payload.slice(0, MAX_END)), MAX_OUTCOME_LENGTH);
}

/**
 * How it ended, so that nobody has to run it again to learn that, in at most `part` UTF-16 units: of an object of JSON the start, or
 * ids and states that stand behind it, or what a text ends with. Empty if it does not say.
 */
function outcomeIn(payload: string, part: number): readonly [label: string, said: string] {
  if (OBJECT.test(payload) && !payload.slice(0, MAX_SEEN).includes('}\n{')) {
    const room = Math.min(MAX_JSON_LENGTH, part);
    const start = payload.slice(0, room);
    const fields = identityFields(payload, room);
    const isText = payload.slice(0, MAX_SEEN).includes('\\n');
    if (fields !== '' && (isText || fields !== identityFields(start, room))) {
      return [EXCERPT.held, fields];
    }
    if (!isText) {
      return [EXCERPT.began, shortened(onOneLine(payload.slice(0, MAX_END)), room)];
    }
  }
  const last = lastStatements(payload);
  const line = onOneLine(last.findLast((each) => OUTCOME.test(each)) ?? last.at(-1) ?? '');
  return [EXCERPT.ended, shortened(line, Math.min(MAX_OUTCOME_LENGTH, part))];
}

/** What counts the failures, or the last exception: the first ones do not tell how many there are, nor which ended it. */
function sumOfFailures(payload: string): string {
  const last = lastStatements(payload);
  const end = last.at(-1) ?? '';
  const thrown = EXCEPTION.test(end) && payload.includes('Traceback (most recent call') ? end : '';
  return shortened(onOneLine(last.findLast(countsFailures) ?? thrown), MAX_FAILURE_LENGTH);
}

/** The last lines that say something, without those that only stand above others; none above lines that another result shows. */
function lastStatements(payload: string): readonly string[] {
  const end = payload.slice(-MAX_END);
  const lines = seenLines(end.length < payload.length ? end.slice(end.indexOf('\n') + 1) : end);
  const headings: string[] = [];
  const last: string[] = [];
  for (let at = lines.length - 1; at >= 0 && last.length < MAX_END_LINES; at -= 1) {
    const line = lines[at] ?? '';
    if (saysShown(line)) break;
    if (isStatement(line)) (line.trimEnd().endsWith(':') ? headings : last).push(line);
  }
  return (last.length === 0 ? headings.slice(0, MAX_END_LINES) : last).reverse();
}

/** Not a table that shrinking made, of which nothing stands before its columns; nor is a log, with an object in each line. */
const OBJECT = /^\{(?!(?:"[^"]{0,80}":\{)?"columns":\[)/;
/** Of the end of a text, how much is searched for its outcome: UTF-16 units, and lines. */
const MAX_END = 2_000;
const MAX_END_LINES = 12;
/** Several words, or one in a script that may not separate them. */
const WORDS = /\p{L}{2}.*\s\S|\S\s.*\p{L}{2}|\p{Lo}{2}/u;
/** Not the time of a log. */
const MATCH = /^(?!\[?[\d-]+(?:T\d+)?:)[^\s:]{1,300}:\d{1,7}[:-]/;
const NPM_LOG = /^npm error A complete log/;
/** How programs sum up. */
const OUTCOME =
  /\b(?:passed|passing|fail(?:ed|ing|ures?)|errors?|problems?|vulnerabilities|succe(?:ss|ssful|ssfully|eded)|complete[d]?|finished(?! at\b)|done|ok|added|applied|chang(?:ed|es)|created|updated|deleted|destroy(?:ed)?|rows?|\d to (?:add|change|remove))\b/i;

/** Neither a line of a file or a match in one, nor one of the host, nor a note of ours; nor where npm keeps its log. */
function isStatement(line: string): boolean {
  const isOfFile = endOfNumber(line, 0) !== -1 || MATCH.test(line) || NPM_LOG.test(line);
  return WORDS.test(line) && !isOfFile && !isOfHost(line) && !saysLeftOut(line);
}

/** Lines with numbers are of a file, which reports nothing. */
function failuresIn(text: string): readonly string[] {
  const failures = new Set<string>();
  // Most texts have no such line. Searching one whole is cheaper than line by line.
  if (!mayReportFailure(text.slice(0, MAX_SEEN))) return [];
  const lines = seenLines(text);
  const headings: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (!reportsFailure(line.slice(0, MAX_TELLING)) || endOfNumber(line, 0) !== -1) continue;
    const said = saidAt(lines, at);
    if (HEADING.test(said)) headings.push(said);
    else if (failures.add(said).size === MAX_FAILURES) break;
  }
  return failures.size > 0 ? [...failures] : headings.slice(0, MAX_FAILURES);
}

/** Says nothing but that something failed: one word, or what stands above a list. */
const HEADING = /^\W*\w+\W*$|:\W*$/;
const TRACEBACK = /^Traceback\b/;
const EXCEPTION = /^[A-Za-z_][\w.]*(?::|$)/;
/** The exception stands at most so many lines below. */
const MAX_FRAMES = 200;
/** The level of an entry of a log, in JSON that has a line for each member. */
const LEVEL = /^\s*\{?\s*"\w{1,20}": ?(?:"\w{1,20}"|\d{1,3}),?\s*$/;
const MAX_MEMBERS = 4;

/** What a line says of a failure, with the lines behind it that belong to it. */
function saidAt(lines: readonly string[], at: number): string {
  const line = lines[at] ?? '';
  if (TRACEBACK.test(line)) {
    const behind = lines.slice(at + 1, at + MAX_FRAMES);
    return behind.find((each) => EXCEPTION.test(each)) ?? line;
  }
  if (LEVEL.test(line)) {
    const members = lines.slice(at, at + MAX_MEMBERS).map((member) => member.trim());
    return messageIn(members.join(''));
  }
  const place = placeAfter(lines, at);
  return place === at ? messageIn(line) : `${line} ${(lines[place] ?? '').trim()}`;
}

/** A text of an object, of which the end may be cut; and what those are called that say something. */
const FIELD = /"([\w.@-]{1,40})": ?"((?:[^"\\]|\\.)+)/g;
const MESSAGE = /^(?:msg|message|err|error|output|reason)$/i;

/** What a line of a log in JSON says; any other line as it is. */
function messageIn(line: string): string {
  if (!line.startsWith('{')) return line;
  const said = Array.from(line.matchAll(FIELD), ([, name = '', text = '']) =>
    MESSAGE.test(name) || reportsFailure(text) ? text.trim() : '',
  );
  return said.filter((text) => text !== '').join('; ') || line;
}

/** Estimates the most tokens of an excerpt from those of the result. What failed or goes on may take a few more. */
export function excerptTokens(tokens: number): number {
  const names = Math.min(tokensOfCharacters(MAX_NAMES_LENGTH), NAMES_SHARE * tokens);
  const outcome = Math.min(tokensOfCharacters(MAX_OUTCOME_LENGTH), OUTCOME_SHARE * tokens);
  return PLACEHOLDER_TOKENS + names + outcome;
}

/** Whether a result is long enough for an excerpt. */
export function isExcerptible(result: unknown): boolean {
  if (result === LONG_RESULT) return true;
  return !isExcerpt(result) && estimateResultTokens({ result }) >= MIN_TOKENS;
}

/** Whether a result is an excerpt already. */
export function isExcerpt(result: unknown): boolean {
  if (typeof result !== 'string') return result === OLD_EXCERPT;
  return isExcerptText(result);
}

/**
 * Returns a small stand-in for a result that `isExcerptible` and `isExcerpt` judge the same way.
 */
export function excerptStandIn(result: unknown): unknown {
  if (isExcerptible(result)) return LONG_RESULT;
  return isExcerpt(result) ? OLD_EXCERPT : '';
}

/** Parameters for text that an edit replaces, by the names that agents use. */
const REPLACED_KEYS: ReadonlySet<string> = new Set([
  ...['old_string', 'old_str', 'old_text', 'oldString', 'oldText', 'old'],
]);
/** Parameters for the whole content of a file. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text']);
/** A list of edits in one call. */
const EDITS_KEY = 'edits';
const PATCH = '*** Begin Patch';
const REMOVED_LINES = /(?:^-.*\n)+/gm;

/** Shorter texts stay. In UTF-16 units. */
const MIN_SPENT_LENGTH = 160;
const MAX_EDITS = 1_000;

/** What the spendable texts of a call are. */
export type SpendableText = 'replaced' | 'content';

/** Stands in their place. Says nothing about the file: it may contain them again, or still. */
const LEFT_OUT: Readonly<Record<SpendableText, string>> = {
  replaced: `${SPENT_TEXT}what this edit has replaced]`,
  content: `${SPENT_TEXT}written or read again since]`,
};

/** Edits can have spent replaced text; other writes, spent content. */
export function spendableText(parameters: unknown): SpendableText {
  const values = asRecord(parameters) ?? {};
  const replaces = Object.entries(values).some(
    ([key, value]) => REPLACED_KEYS.has(key) || key === EDITS_KEY || isPatch(value),
  );
  return replaces ? 'replaced' : 'content';
}

/** Estimates how many tokens `withoutSpentText` saves. */
export function spendableTokens(parameters: unknown): number {
  let length = 0;
  const note = LEFT_OUT[spendableText(parameters)];
  mapSpendable(parameters, (text) => {
    length += text.length - note.length;
    return text;
  });
  return tokensOfCharacters(length);
}

/** Replaces the spendable texts of arguments by a short note. Fields and their types stay. */
export function withoutSpentText(parameters: unknown): unknown {
  const note = LEFT_OUT[spendableText(parameters)];
  return mapSpendable(parameters, () => note);
}

function mapSpendable(parameters: unknown, replace: (text: string) => string): unknown {
  const values = asRecord(parameters);
  if (values === undefined) return parameters;
  const keys = spendableText(values) === 'replaced' ? REPLACED_KEYS : CONTENT_KEYS;
  const edits = values[EDITS_KEY];
  const isList = keys === REPLACED_KEYS && Array.isArray(edits) && edits.length <= MAX_EDITS;
  return {
    ...mapTexts(values, keys, replace),
    ...(isList && {
      [EDITS_KEY]: edits.map((edit: unknown) => {
        const fields = asRecord(edit);
        return fields === undefined ? edit : mapTexts(fields, keys, replace);
      }),
    }),
  };
}

function mapTexts(
  values: JsonRecord,
  keys: ReadonlySet<string>,
  replace: (text: string) => string,
): JsonRecord {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      if (typeof value !== 'string' || value.length < MIN_SPENT_LENGTH) return [key, value];
      if (keys.has(key)) return [key, replace(value)];
      if (!isPatch(value)) return [key, value];
      return [
        key,
        value.replace(REMOVED_LINES, (lines) =>
          lines.length < MIN_SPENT_LENGTH ? lines : `-${replace(lines.slice(1, -1))}\n`,
        ),
      ];
    }),
  );
}

function isPatch(value: unknown): value is string {
  return typeof value === 'string' && value.includes(PATCH);
}
