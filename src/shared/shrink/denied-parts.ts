// What an answer says in its fields that was not done of what was asked: some of several things, or all of it.

import { asRecord } from '../json.js';
import type { JsonRecord } from '../json.js';
import { wordsOfTool } from '../tool-words.js';

/** How APIs call what they have not done of several things, as `failed`, `FailedRecordCount`, `error_count`, `UnprocessedItems`. */
const FAILED_PART =
  /^(?:num_?|total_?)?(?:fail(?:ed|ures?)?|errors|error(?=_?[a-z])|rejected|unprocessed)(?:_?(?:[a-z]{1,12}_?)?(?:count|items|records|entries|rows|ids))?$/i;
/** And what they have. */
const DONE_PART =
  /^(?:num_?|total_?)?(?:succe(?:ss|ssful|eded)|accepted|imported|processed|updated|created|sent|deleted|passed)_?(?:count)?$/i;

/** What an answer says that was not done of several things, and what was, as `failed: 1, succeeded: 9`; empty if nothing failed. */
export function failedPartIn(fields: JsonRecord): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    // Errors beside the data of GraphQL are about fields of it.
    const isOfData = name === 'errors' && fields['data'] !== undefined;
    const count = isOfData || !FAILED_PART.test(name) ? 0 : countOf(value);
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

/**
 * Whether a field denies what the tool is called after, as `created: false` of `create_event`, or that anything was done, and none says
 * that something was.
 */
export function deniesDoing(fields: JsonRecord, toolName: string): boolean {
  const words = wordsOfTool(toolName);
  const flags = Object.entries(fields).filter(([name]) => /(?:ed|sent|paid|made)$/.test(name));
  if (flags.some(([, value]) => value === true)) return false;
  return flags.some(([name, value]) => {
    const isOfTool = words.some((word) => word.length > 2 && name.startsWith(word.slice(0, 4)));
    return value === false && (isOfTool || (DONE_FLAG.test(name) && fields['id'] === undefined));
  });
}

const DONE_FLAG = /^(?:created|executed|applied|performed|accepted|committed)$/;
