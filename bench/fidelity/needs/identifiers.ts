// Needs of identifiers: a call that names a rare thing for the first time, which only results had named before, was
// made because one of these results was read. Knows names by their shape; plain words are none.

import type { ContentBlock } from '../../../src/index.js';
import type { Transcript } from '../../../src/transcripts.js';
import { shownText } from '../visible-lines.js';
import { callFacts } from './call-facts.js';
import type { Need } from './need.js';
import { isFromResultsOnly } from './shown-before.js';

/** File names and dotted names, or words. */
const NAME = /[A-Za-z_$][\w$]*(?:[.-][\w$]+)+|[\w$]+/g;
/** A word of a program and not of a language: with an underscore, a digit or a capital behind its start, or composed. */
const TELLING = /^(?=.{5,80}$)(?=.*[A-Za-z])(?:.*[_$\d.-].*|.+[A-Z].*)$/;
/** A name in more of the results than this is not rare. */
const MAX_SHARE = 0.1;
/** In so few results a name is rare, however few there are. */
const FEW = 3;

/**
 * The names in a text, each once: file names, symbols and hashes of at least five characters. Numbers and words in plain
 * letters are none; of `file-name.ts` there is one, and not its parts.
 */
export function namesIn(text: string): ReadonlySet<string> {
  return new Set((text.match(NAME) ?? []).filter((name) => TELLING.test(name)));
}

/**
 * One need for each rare name that a call is the first to use. It weighs ln(1 + results so far / those that show it),
 * which is its idf.
 */
export function identifierNeeds({ entries, preset }: Transcript): readonly Need[] {
  const shownBy = new Map<string, ContentBlock[]>();
  const needs: Need[] = [];
  let results = 0;
  entries.forEach(({ blocks }, entry) => {
    const used = new Set<string>();
    for (const block of blocks) {
      if (block.type !== 'tool_call') continue;
      const kind = `id-${callFacts(preset, block).kind}` as const;
      for (const name of namesIn(shownText(block))) {
        const holders = shownBy.get(name) ?? [];
        const isRare = holders.length <= Math.max(FEW, MAX_SHARE * results);
        if (used.has(name) || !isRare || !isFromResultsOnly(holders)) continue;
        used.add(name);
        const weight = Math.log(1 + results / holders.length);
        const subject = { entry, callId: block.id, tool: block.name, file: '' };
        needs.push({ kind, ...subject, weight, lines: [name], shownBy: [[...holders]] });
      }
    }
    for (const block of blocks) {
      if (block.type === 'tool_response') results += 1;
      for (const name of namesIn(shownText(block))) {
        const holders = shownBy.get(name);
        if (holders === undefined) shownBy.set(name, [block]);
        else holders.push(block);
      }
    }
  });
  return needs;
}
