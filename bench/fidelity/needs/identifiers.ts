// Needs of identifiers: when a call is the first to use a rare name that only results had shown, one of these results must have
// been read. Recognizes names by shape; plain words do not count.

import type { ContentBlock } from '../../../src/index.js';
import type { Transcript } from '../../../src/transcripts.js';
import { shownText } from '../visible-lines.js';
import { callFacts } from './call-facts.js';
import type { Need } from './need.js';
import { isFromResultsOnly } from './shown-before.js';

/** File names and dotted names, or words. */
const NAME = /[A-Za-z_$][\w$]*(?:[.-][\w$]+)+|[\w$]+/g;
/** A name rather than a plain word: contains an underscore, a digit, an inner capital, or a separator. */
const TELLING = /^(?=.{5,80}$)(?=.*[A-Za-z])(?:.*[_$\d.-].*|.+[A-Z].*)$/;
/** A name in more than this share of the results is not rare. */
const MAX_SHARE = 0.1;
/** A name in at most this many results is always rare. */
const FEW = 3;

/**
 * The distinct names in a text: file names, symbols and hashes of at least five characters, but no numbers or plain words.
 * `file-name.ts` is one name.
 */
export function namesIn(text: string): ReadonlySet<string> {
  return new Set((text.match(NAME) ?? []).filter((name) => TELLING.test(name)));
}

/**
 * One need for each rare name that a call is the first to use, weighted by its idf: ln(1 + results so far / results that show
 * it).
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
