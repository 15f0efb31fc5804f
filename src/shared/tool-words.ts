// What a tool does, by the words of its name.

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const SHOWS = setOf(
  'browse check count describe details diagnostics download export fetch find get goto history hover info list lookup ' +
    'navigate open output poll query read screenshot scroll search show snapshot status view wait',
);
/** What an agent writes down for itself. */
const NOTES = setOf('plan think todo todos');

/** Of these, what brings a page. */
const LOADS = setOf('browser download fetch navigate');

/** Verbs alone: what stands behind one is what it changes, as in `update_order_status`. */
const CHANGES = setOf(
  'activate add append apply approve archive assign buy cancel close create deactivate delete disable edit enable grant insert make modify ' +
    'patch publish register reject remove rename replace reserve resolve restart revoke save send set submit update upload write',
);
/** Others may be nouns, as in `order_status`. */
const MAY_CHANGE = setOf(
  'book change charge checkout click comment confirm deploy drag email escalate fill import invite issue log merge move notify order pay ' +
    'place post press put refund reply reset retry rollback scale schedule select start stop sync transfer trigger type',
);

/** Of both, the ones that make something, whose state is none of what they were told to write down. */
const MAKES = setOf(
  'book buy charge checkout create deploy order pay place post publish refund register reserve send submit transfer',
);

/** What these do, they do to several things; not where programs run or queries, which may only show something. */
const RUNS = setOf('batch bulk execute import migrate process run sync');
const SHELLS = setOf(
  'bash cmd code command console js javascript notebook powershell python repl script shell sql ssh terminal',
);

/** The words of a tool's name, in small letters. */
export function wordsOfTool(name: string): readonly string[] {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** Whether a tool by its name only shows something, as `order_status`. */
export function onlyShows(toolName: string): boolean {
  if (wordsOfTool(toolName).some((word) => NOTES.has(word))) return true;
  const tells = (word: string): boolean => SHOWS.has(word) || CHANGES.has(word);
  // Behind the name of its server, which may be a verb.
  const first =
    wordsOfTool(toolName.replace(/^.*__/, '')).find(tells) ?? wordsOfTool(toolName).find(tells);
  return SHOWS.has(first ?? '');
}

/** The verb that a tool is called after, if it changes something. */
export function doingOf(toolName: string): string | undefined {
  const words = wordsOfTool(toolName);
  return words.find((word) => CHANGES.has(word)) ?? words.find((word) => MAY_CHANGE.has(word));
}

/** Whether a tool of a browser answers with the page on which it has acted, whose console may tell of failures. */
export function showsPage(toolName: string): boolean {
  return wordsOfTool(toolName).includes('browser');
}

/** Whether a tool by its name brings a page, as `web_fetch`. */
export function loads(toolName: string): boolean {
  return wordsOfTool(toolName).some((word) => LOADS.has(word));
}

/** Whether a tool by its name changes something, as `create_refund`. */
export function acts(toolName: string): boolean {
  return !onlyShows(toolName) && doingOf(toolName) !== undefined;
}

/** Whether a tool by its name makes something, as an order, whose state says whether it was made. */
export function makes(toolName: string): boolean {
  return wordsOfTool(toolName).some((word) => MAKES.has(word));
}

/** Whether a tool by its name does something to several things. */
export function runsSeveral(toolName: string): boolean {
  const words = wordsOfTool(toolName);
  return words.some((word) => RUNS.has(word)) && !words.some((word) => SHELLS.has(word));
}

/** Whether a name is in another script, and does not tell what the tool does. */
export function isNamedForeign(toolName: string): boolean {
  return /[^\p{ASCII}]/u.test(toolName);
}
