// Builds what replaces a pruned result: an excerpt below the placeholder with its names, paths, failures and outcome. Pure
// functions that read a bounded part of the payload.

import type { ToolResponseBlock } from '../../content.js';
import { exitCodeOf, hasFailed, isOfHost, printedIn } from '../../outcome.js';
import { EXCERPT, isExcerptText, placeholderKind } from '../../placeholder.js';
import { onOneLine, shortened } from '../../shown-text.js';
import {
  countsFailures,
  mayReportFailure,
  locationAfter,
  reportsFailure,
} from '../../shrink/failures-first.js';
import { endOfNumber, isReference } from '../../shrink/shown-before.js';
import { MAX_SCANNED_OF_LINE, saysLeftOut } from '../../shrink/shrinker.js';
import { payloadText } from '../../tokens/content-text.js';
import { estimateResultTokens, tokensOfCharacters } from '../../tokens/estimate.js';
import { changesSomething } from '../../tool-words.js';
import { identityFields, itemIdsIn, nextPageIn } from './identity-fields.js';
import { MAX_SEEN, namesIn, seenLines } from './names-in-text.js';
import { readableText, withMembersInLines } from './readable-text.js';

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
/** Lines that report a failure of which the distinct ones are sought. */
const MAX_REPORTS = 100;
/** Length of the outcome in UTF-16 units: a share of the result, with a maximum. JSON gets more, because it repeats its keys. */
const OUTCOME_SHARE = 0.25;
const MAX_OUTCOME_LENGTH = 100;
const MAX_JSON_LENGTH = 140;
/** Maximum length of the next-page field in UTF-16 units. A longer one is omitted: a truncated page token is useless. */
const MAX_NEXT_LENGTH = 240;

interface ExcerptLines {
  /** Empty if the result has nothing worth quoting. */
  readonly lines: string;
  /** Length of the result's readable text, which is never longer than the result as it is sent. In UTF-16 units. */
  readonly readableLength: number;
}

const EXCERPT_LINES = new WeakMap<ToolResponseBlock, ExcerptLines>();

/**
 * Returns the replacement of a result: the placeholder, followed by lines on its names, failures and
 * outcome unless these would make it as long as the result. Cached per response, because the same
 * edit may be found many times before it is applied.
 */
export function excerptOfBlock(response: ToolResponseBlock, placeholder: string): string {
  let known = EXCERPT_LINES.get(response);
  if (known === undefined) {
    const payload = readableText(response.result);
    known = { lines: excerptLines(response, payload), readableLength: payload.length };
    EXCERPT_LINES.set(response, known);
  }
  const excerpt = placeholder + known.lines;
  const isShorter =
    excerpt.length < known.readableLength || excerpt.length < payloadText(response.result).length;
  return isShorter ? excerpt : placeholder;
}

/** The excerpt's lines below the placeholder; empty if the result has nothing worth quoting. */
function excerptLines(response: ToolResponseBlock, payload: string): string {
  const text = withoutNotes(withMembersInLines(payload));
  const names = namedIn(text, payload);
  const named = names === '' ? '' : EXCERPT.named + names;
  const next = nextPageIn(payload, Math.min(MAX_NEXT_LENGTH, OUTCOME_SHARE * payload.length));
  const goesOn = next === '' ? '' : EXCERPT.goesOn + next;
  return named + outcomeLines(response, text, payload) + goesOn;
}

/** The ids of a list's items, by which an agent goes on working through it; else links and names. */
function namedIn(text: string, payload: string): string {
  const room = Math.min(MAX_NAMES_LENGTH, NAMES_SHARE * payload.length);
  const ids = itemIdsIn(payload, room);
  if (ids !== '') return ids;
  const links = linksIn(payload, room / 2);
  const taken = links.join(' ');
  const others = namesIn(text, room - taken.length).filter((name) => !taken.includes(name));
  return [...links, ...others].join(' ');
}

/** Removes the notes in which shrinking says what it left out: they name other calls, not this result's content. */
function withoutNotes(text: string): string {
  return text.includes('[… ') ? text.replaceAll(NOTE, '') : text;
}

const NOTE = /^\[… [^\n]{1,400} …\]$/gm;

const LINK = /https?:\/\/[^\s"'<>()[\]{}|\\^`\u0080-\uffff]{4,}(?<![.,;:!?*])/g;
/** In UTF-16 units. Longer links usually redirect to other addresses. */
const MAX_LINK_LENGTH = 120;
/** A text with fewer links, or with a smaller share of its length in links, is not a list of links. */
const MIN_LINKS = 3;
const MIN_LINKS_SHARE = 0.04;
/** The address of a page, as browser tools print it above the content. */
const ADDRESS = new RegExp(String.raw`^[^\n"{]{0,20}\bURL[^\w\n]{1,5}(${LINK.source})`, 'im');
const MAX_ABOVE = 600;

/** The first links of a text that lists links, such as search results: the next call opens one of them. Else the page's address, if any. */
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

/** The excerpt's lines on failures and outcome. Failures count as merely reported if the call is not known to have failed. */
function outcomeLines(response: ToolResponseBlock, text: string, payload: string): string {
  const isFailed = hasFailed(response);
  const isAction = changesSomething(response.toolName);
  const [label, found] = outcomeIn(payload, Math.floor(OUTCOME_SHARE * payload.length), isAction);
  const failures = failuresIn(text).map((line) => shortened(onOneLine(line), MAX_FAILURE_LENGTH));
  const sum = isFailed || failures.length > 0 ? sumOfFailures(payload) : '';
  // Pruning keeps the `error` field, so a failure stated there need not be quoted.
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
 * Returns on one line how a call ended according to its result: its first failure, if any, then its outcome. For an excerpt, its last
 * line on failures or outcome. Empty for a placeholder, and if the result does not say.
 */
export function endingOf(response: ToolResponseBlock): string {
  const { result } = response;
  if (placeholderKind(response) !== 'none') return '';
  if (isExcerpt(result)) return [...String(result).matchAll(EXCERPT_END)].at(-1)?.[1] ?? '';
  const payload = readableText(printedIn(result) ?? result);
  const text = withoutNotes(withMembersInLines(payload));
  const end =
    sumOfFailures(payload) || outcomeIn(payload, MAX_OUTCOME_LENGTH)[1] || onlyLineOf(payload);
  const isData = OBJECT.test(payload);
  const failures = isData || countsFailures(end) ? [] : failuresIn(text).slice(0, 1);
  const said = failures.map((line) => shortened(onOneLine(line), MAX_OUTCOME_LENGTH));
  if (end !== '' && !said.includes(end)) said.push(end);
  return said.join(' … ').replaceAll(/\s+/g, ' ');
}

/** The address, hash or number that is all of a text, such as the address of what was made; empty for other texts. */
function onlyLineOf(text: string): string {
  const line = text.slice(0, MAX_OUTCOME_LENGTH + 2).trim();
  return /^\S*[\d/]\S*$/.test(line) ? shortened(line, MAX_OUTCOME_LENGTH) : '';
}

const EXCERPT_END = /\nIt (?:failed with|reported|began with|held|ended with): (.*)/g;

/** For a failed call without a failure line in its result: the exit code, or the start of the result. */
function failureOf(result: unknown, payload: string): string {
  const code = exitCodeOf(result);
  if (code !== undefined && code !== 0) return `exit code ${code}`;
  return shortened(onOneLine(payload.slice(0, MAX_END)), MAX_OUTCOME_LENGTH);
}

/**
 * The outcome in at most `part` UTF-16 units, so that the call need not be run again to learn it: for a JSON object its start, or its
 * ids and states if some are beyond the start; for other text its last statement. Empty if there is none.
 *
 * @param isAction whether the call may have made what other ids than its own identify, such as a refund's @default false
 */
function outcomeIn(
  payload: string,
  part: number,
  isAction: boolean = false,
): readonly [label: string, said: string] {
  if (OBJECT.test(payload) && !payload.slice(0, MAX_SEEN).includes('}\n{')) {
    const room = Math.min(MAX_JSON_LENGTH, part);
    const start = payload.slice(0, room);
    const fields = identityFields(payload, room, isAction);
    const isText = payload.slice(0, MAX_SEEN).includes('\\n');
    if (fields !== '' && (isText || fields !== identityFields(start, room, isAction))) {
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

/** The line that counts the failures, or the exception that ended the program: the first failures tell neither. */
function sumOfFailures(payload: string): string {
  const last = lastStatements(payload);
  const end = last.at(-1) ?? '';
  const thrown = EXCEPTION.test(end) && payload.includes('Traceback (most recent call') ? end : '';
  return shortened(onOneLine(last.findLast(countsFailures) ?? thrown), MAX_FAILURE_LENGTH);
}

/** The last statements, without headings unless there is nothing else. Stops at a note that another result shows the lines there. */
function lastStatements(payload: string): readonly string[] {
  const end = payload.slice(-MAX_END);
  const lines = seenLines(end.length < payload.length ? end.slice(end.indexOf('\n') + 1) : end);
  const headings: string[] = [];
  const last: string[] = [];
  for (let at = lines.length - 1; at >= 0 && last.length < MAX_END_LINES; at -= 1) {
    const line = lines[at] ?? '';
    if (isReference(line)) break;
    if (isStatement(line)) (line.trimEnd().endsWith(':') ? headings : last).push(line);
  }
  return (last.length === 0 ? headings.slice(0, MAX_END_LINES) : last).reverse();
}

/** Matches the start of a JSON object, but not a table made by shrinking, which starts with its columns. */
const OBJECT = /^\{(?!(?:"[^"]{0,80}":\{)?"columns":\[)/;
/** How much of a text's end is searched for its outcome: UTF-16 units, and statements. */
const MAX_END = 2_000;
const MAX_END_LINES = 12;
/** Several words, or one in a script that may not use spaces. */
const WORDS = /\p{L}{2}.*\s\S|\S\s.*\p{L}{2}|\p{Lo}{2}/u;
/** A search match such as `file:12:text`, but not a log line that starts with a timestamp. */
const MATCH = /^(?!\[?[\d-]+(?:T\d+)?:)[^\s:]{1,300}:\d{1,7}[:-]/;
const NPM_LOG = /^npm error A complete log/;
/** Words with which programs sum up. */
const OUTCOME =
  /\b(?:passed|passing|fail(?:ed|ing|ures?)|errors?|problems?|vulnerabilities|succe(?:ss|ssful|ssfully|eded)|complete[d]?|finished(?! at\b)|done|ok|added|applied|chang(?:ed|es)|created|updated|deleted|destroy(?:ed)?|rows?|\d to (?:add|change|remove))\b/i;

/** Whether a program says something in this line: not a numbered file line, search match, host line, shrinking note or npm's log path. */
function isStatement(line: string): boolean {
  const isOfFile = endOfNumber(line, 0) !== -1 || MATCH.test(line) || NPM_LOG.test(line);
  return WORDS.test(line) && !isOfFile && !isOfHost(line) && !saysLeftOut(line);
}

/** The first distinct failures that a text reports; headings only if there is nothing else. Numbered lines are file content, so skipped. */
function failuresIn(text: string): readonly string[] {
  const failures = new Set<string>();
  // Fast path: most texts report no failure, and one search of the whole text is cheaper than one per line.
  if (!mayReportFailure(text.slice(0, MAX_SEEN))) return [];
  const lines = seenLines(text);
  const headings: string[] = [];
  let reports = 0;
  for (const [at, line] of lines.entries()) {
    if (!reportsFailure(line.slice(0, MAX_SCANNED_OF_LINE)) || endOfNumber(line, 0) !== -1)
      continue;
    if (++reports > MAX_REPORTS) break;
    const said = failureAt(lines, at);
    if (HEADING.test(said)) headings.push(said);
    else if (failures.add(said).size === MAX_FAILURES) break;
  }
  return failures.size > 0 ? [...failures] : headings.slice(0, MAX_FAILURES);
}

/** A failure line without details: a single word, or the heading of a list. */
const HEADING = /^\W*\w+\W*$|:\W*$/;
const TRACEBACK = /^Traceback\b/;
const EXCEPTION = /^[A-Za-z_][\w.]*(?::|$)/;
/** Lines below `Traceback` that are searched for the exception. */
const MAX_FRAMES = 200;
/** A line with a single short JSON member, such as the level of a log entry that has one line per member. */
const LEVEL = /^\s*\{?\s*"\w{1,20}": ?(?:"\w{1,20}"|\d{1,3}),?\s*$/;
const MAX_MEMBERS = 4;

/** The failure that the line at `at` reports, taken from following lines where they hold it: exception, log message or place. */
function failureAt(lines: readonly string[], at: number): string {
  const line = lines[at] ?? '';
  if (TRACEBACK.test(line)) {
    const behind = lines.slice(at + 1, at + MAX_FRAMES);
    return behind.find((each) => EXCEPTION.test(each)) ?? line;
  }
  if (LEVEL.test(line)) {
    const members = lines.slice(at, at + MAX_MEMBERS).map((member) => member.trim());
    return messageIn(members.join(''));
  }
  const place = locationAfter(lines, at);
  return place === at ? messageIn(line) : `${line} ${(lines[place] ?? '').trim()}`;
}

/** A string field of a JSON object, whose end may be cut off; and the names of fields that hold a message. */
const FIELD = /"([\w.@-]{1,40})": ?"((?:[^"\\]|\\.)+)/g;
const MESSAGE = /^(?:msg|message|err|error|output|reason)$/i;

/** The messages in a JSON log line; any other line unchanged. */
function messageIn(line: string): string {
  if (!line.startsWith('{')) return line;
  const said = Array.from(line.matchAll(FIELD), ([, name = '', text = '']) =>
    MESSAGE.test(name) || reportsFailure(text) ? text.trim() : '',
  );
  return said.filter((text) => text !== '').join('; ') || line;
}

/** Estimates the maximum tokens of an excerpt from the tokens of the result. Failures and a next-page field may take a few more. */
export function excerptTokens(tokens: number): number {
  const names = Math.min(tokensOfCharacters(MAX_NAMES_LENGTH), NAMES_SHARE * tokens);
  const outcome = Math.min(tokensOfCharacters(MAX_OUTCOME_LENGTH), OUTCOME_SHARE * tokens);
  return PLACEHOLDER_TOKENS + names + outcome;
}

/** Whether a result is long enough for an excerpt. */
export function isExcerptible(result: unknown): boolean {
  return !isExcerpt(result) && estimateResultTokens({ result }) >= MIN_TOKENS;
}

/** Whether a result is an excerpt already. */
export function isExcerpt(result: unknown): boolean {
  return typeof result === 'string' && isExcerptText(result);
}
