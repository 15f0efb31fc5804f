// What a tool does, by the words of its name.

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const SHOWS = setOf(
  'browse check count describe details diagnostics download export fetch find get goto history hover info list lookup ' +
    'navigate open output plan query read screenshot scroll search show snapshot status think todo todos view wait',
);

const ACTS = setOf(
  'add append apply approve archive assign book buy cancel change charge checkout click close comment confirm create delete deploy ' +
    'disable drag edit email enable modify patch replace retry rollback scale ' +
    'escalate fill grant insert invite issue log make merge move notify order pay place post press publish refund register ' +
    'reject remove rename reply reserve resolve restart revoke save schedule select send set start stop submit transfer ' +
    'trigger type update upload write',
);

/** Of these, the ones that make something, whose state is none of what they were told to write down. */
const MAKES = setOf(
  'book buy charge checkout create deploy order pay place post publish refund register reserve send submit transfer',
);

/** The words of a tool's name, in small letters. */
function wordsOfTool(name: string): readonly string[] {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** Whether a tool by its name only shows something, as `order_status`. */
export function onlyShows(toolName: string): boolean {
  return wordsOfTool(toolName).some((word) => SHOWS.has(word));
}

/** Whether a tool of a browser answers with the page on which it has acted, whose console may tell of failures. */
export function showsPage(toolName: string): boolean {
  return wordsOfTool(toolName).includes('browser');
}

/** Whether a tool by its name changes something, as `create_refund`. */
export function acts(toolName: string): boolean {
  return !onlyShows(toolName) && wordsOfTool(toolName).some((word) => ACTS.has(word));
}

/** Whether a tool by its name makes something, as an order, whose state says whether it was made. */
export function makes(toolName: string): boolean {
  return wordsOfTool(toolName).some((word) => MAKES.has(word));
}
