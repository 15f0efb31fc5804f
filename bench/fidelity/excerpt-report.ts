// How many of the identifiers that calls need survive in excerpts. Skips traces, which have no text.

import { estimateEntryTokens } from '../../src/index.js';
import { REMOVED_POINTER } from '../../src/density.js';
import type { ContentBlock } from '../../src/index.js';
import { excerptOfBlock } from '../../src/shared/density/index/excerpt.js';

import type { Need } from './needs/need.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';

/** Smaller results are rarely worth an excerpt. */
const LARGE_TOKENS = 150;

const GROUPS: readonly (readonly [name: string, has: (need: Need) => boolean])[] = [
  ['all calls', () => true],
  ['edits and writes', ({ kind }) => kind === 'id-edit'],
  ['other calls', ({ kind }) => kind !== 'id-edit'],
];

/** Returns which identifiers shown only by large results would also be in their excerpts. */
export function excerptTable(contexts: readonly RecordedSession[]): TextTable {
  const needs = contexts
    .flatMap(({ needsOf }) => Array.from(needsOf.values()).flat())
    .filter(({ kind, shownBy }) => kind.startsWith('id-') && shownBy.flat().every(isLarge));
  const rows = GROUPS.map(([name, has]) => {
    const those = needs.filter(has);
    const kept = those.filter(isInExcerpt);
    return [
      name,
      those.length.toLocaleString('en-US'),
      percent(kept.length / those.length),
      percent(weightOf(kept) / weightOf(those)),
    ];
  });
  return {
    title: 'Identifiers in excerpts',
    subtitle: `Those that only results of more than ${LARGE_TOKENS} tokens had shown, by the call that used them`,
    heads: ['used by', 'identifiers', 'in an excerpt', 'by idf'],
    rows,
  };
}

function isLarge(block: ContentBlock): boolean {
  return (
    block.type === 'tool_response' &&
    estimateEntryTokens({ speaker: 'tool', blocks: [block] }) > LARGE_TOKENS
  );
}

function isInExcerpt({ shownBy, lines: [name = ''] }: Need): boolean {
  return shownBy
    .flat()
    .some(
      (block) =>
        block.type === 'tool_response' && excerptOfBlock(block, REMOVED_POINTER).includes(name),
    );
}

function weightOf(needs: readonly Need[]): number {
  return needs.reduce((sum, { weight }) => sum + weight, 0);
}

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(100 * share).toFixed(0)} %`;
}
