// What an answer says in its fields that was not done of what was asked: some of several things, or all of it.

import { asRecord } from '../json.js';
import type { JsonRecord } from '../json.js';
import { doingOf, makes, wordsOfTool } from '../tool-words.js';

/** How APIs call what they have not done of several things, as `failed`, `FailedRecordCount`, `error_count`, `UnprocessedItems`. */
const FAILED_PART =
  /^(?:num_?|total_?)?(?:fail(?:ed|ures?)?|errors|error(?=_?[a-z])|rejected|unprocessed)(?:_?(?:[a-z]{1,12}_?)?(?:count|items|records|entries|rows|ids))?$/i;
/** A thing's own history and limits. */
const OF_THING =
  /_?(?:log_?in|sign_?in|auth|password|attempts?|payments?|retry|threshold)_?count$/i;
/** And what they have. */
const DONE_PART =
  /^(?:num_?|total_?)?(?:succe(?:ss|ssful|eded)|accepted|imported|processed|updated|created|sent|deleted|passed)_?(?:count)?$/i;

/** What an answer says that was not done of several things, and what was, as `failed: 1, succeeded: 9`; empty if nothing failed. */
export function failedPartIn(fields: JsonRecord, toolName: string): string {
  const parts: string[] = [];
  const stem = stemOf(doingOf(toolName) ?? '');
  for (const [name, value] of Object.entries(fields)) {
    if (!FAILED_PART.test(name) || OF_THING.test(name)) continue;
    // Errors beside the data of GraphQL are about fields of it; and what a tool has rejected is what it was told to.
    const isOther = name === 'errors' && fields['data'] !== undefined;
    const count = isOther || (stem !== '' && name.startsWith(stem)) ? 0 : countOf(value);
    if (count !== 0) parts.push(`${name}: ${String(count)}`);
  }
  if (parts.length === 0) return '';
  for (const [name, value] of Object.entries(fields)) {
    if (DONE_PART.test(name) && countOf(value) !== 0)
      parts.push(`${name}: ${String(countOf(value))}`);
  }
  return parts.join(', ');
}

function countOf(value: unknown): number | true {
  if (typeof value === 'number' || value === true) return value;
  return Array.isArray(value) ? value.length : Object.keys(asRecord(value) ?? {}).length;
}

/** Whether an answer is the thing that a tool was told to change: it may count what has failed before. */
export function isOfThing(fields: JsonRecord, toolName: string): boolean {
  const words = wordsOfTool(toolName);
  return Object.keys(fields).some(
    (name) => THING.test(name) || words.includes(OWN_ID.exec(name)?.[1]?.toLowerCase() ?? ''),
  );
}

const THING = /^(?:_?id|uuid|key|name|number|sha)$/;
const OWN_ID = /^([a-z]+)_?(?:id|key|name|number)$/i;

/**
 * Whether a field denies what the tool does, as `created: false` of `create_event`, or that anything was done, and none says that
 * something was, or that it is under way. What has an id is there: its fields tell of its state, but for the tool's own word, as
 * `deleted: false`.
 */
export function deniesDoing(fields: JsonRecord, toolName: string): boolean {
  const flags = Object.entries(fields).filter(([name]) => /(?:ed|sent|paid|made)$/.test(name));
  if (flags.some(([, value]) => value === true) || Object.entries(fields).some(isPending))
    return false;
  const doing = doingOf(toolName);
  const isThere = [fields, ...Object.values(fields)].some(namesThing);
  return flags.some(([name, value]) => {
    const isOwn = doing !== undefined && name.startsWith(stemOf(doing));
    if (value !== false || (isThere && (!isOwn || makes(doing)))) return false;
    const isMade = wordsOfTool(toolName).some(
      (word) => makes(word) && name.startsWith(stemOf(word)),
    );
    return isOwn || isMade || DONE_FLAG.test(name);
  });
}

function isPending([name, value]: readonly [string, unknown]): boolean {
  if (name === 'status' || name === 'state') return PENDING.test(String(value));
  return /^(?:pending|queued|scheduled)/.test(name) && Boolean(value);
}

const PENDING = /pending|request|queue|schedul|process|progress|await/i;

/** Whether a field says what was done in the word of the tool, as `shared` of `share_document`. */
export function countsDoing(fields: JsonRecord, toolName: string): boolean {
  const stems = wordsOfTool(toolName)
    .filter((word) => word.length > 2)
    .map(stemOf);
  return Object.keys(fields).some(
    (name) => name.endsWith('ed') && stems.some((stem) => name.startsWith(stem)),
  );
}

/** What a verb and its participle begin with. */
function stemOf(verb: string): string {
  return IRREGULAR.get(verb) ?? verb.slice(0, 4);
}

const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ['send', 'sent'],
  ['pay', 'paid'],
  ['make', 'made'],
]);

/** Not the id of a request. */
const NAMED =
  /^(?:_?id|uuid|key|number|sha|email)$|^(?!request|trace|correlation)[a-z]+(?:_id|Id|_number)$/;

function namesThing(value: unknown): boolean {
  return Object.keys(asRecord(value) ?? {}).some((name) => NAMED.test(name));
}

const DONE_FLAG = /^(?:executed|applied|performed|accepted|committed)$/;
