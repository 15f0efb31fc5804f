// Judges by the words of a tool's name whether it shows or changes something, and by those of a parameter's whether it says where.

import { wordSet } from './word-lists.js';

const SHOWS = wordSet(
  'browse check count describe details diagnostics download export fetch find get goto history hover info list lookup ' +
    'navigate open output poll query read screenshot scroll search show snapshot status view wait',
);
/** Names of tools with which an agent takes notes for itself. */
const NOTES = wordSet('plan think todo todos');

/** Words that are only verbs: whatever follows one is what it changes, as in `update_order_status`. */
const CHANGES = wordSet(
  'activate add append apply approve archive assign buy cancel close create deactivate delete disable edit enable grant insert make modify ' +
    'patch publish register reject remove rename replace reserve resolve restart revoke save send set submit update upload write',
);
/** Verbs that may also be nouns, such as `order` in `order_status`. */
const MAY_CHANGE = wordSet(
  'book change charge checkout click comment confirm deploy drag email escalate fill import invite issue log merge move notify order pay ' +
    'place post press put refund reply reset retry rollback scale schedule select start stop sync transfer trigger type',
);

/** The words of a tool's name in lower case, split at separators and camel-case boundaries. */
export function wordsOfTool(name: string): readonly string[] {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** Whether a tool, by its name, only shows something, such as `order_status`, or takes notes. */
export function onlyShows(toolName: string): boolean {
  if (wordsOfTool(toolName).some((word) => NOTES.has(word))) return true;
  const tells = (word: string): boolean => SHOWS.has(word) || CHANGES.has(word);
  // Prefer the words after the server's name, which may contain a verb itself.
  const first =
    wordsOfTool(toolName.replace(/^.*__/, '')).find(tells) ?? wordsOfTool(toolName).find(tells);
  return SHOWS.has(first ?? '');
}

/** Whether a tool, by its name, changes something, such as `create_refund`. */
export function changesSomething(toolName: string): boolean {
  if (onlyShows(toolName)) return false;
  return wordsOfTool(toolName).some((word) => CHANGES.has(word) || MAY_CHANGE.has(word));
}

/** What the same path or command means something else in. */
const PLACES = wordSet(
  'account bucket branch cluster commit computer connection container database device drive environment host hostname instance machine ' +
    'namespace node org organization owner pod project ref region repo repository revision sandbox schema server session sha share site ' +
    'tag tenant version vm volume workspace',
);
/** What the value is, behind the word for the place, as in `container_id`. */
const VALUES = wordSet('id key name no number slug uri url');

/** Fast path: hardly any name has such a word in it, and splitting all names into words takes 2 µs a call. */
const MAY_SAY_WHERE = new RegExp([...PLACES].join('|'), 'i');

/** Whether a parameter, by its name, says where a call acts, such as `host`, `target_host` and `repoName`. */
export function saysWhere(parameter: string): boolean {
  if (!MAY_SAY_WHERE.test(parameter)) return false;
  const words = wordsOfTool(parameter);
  const last = words.at(-1) ?? '';
  return PLACES.has(VALUES.has(last) ? (words.at(-2) ?? '') : last);
}
