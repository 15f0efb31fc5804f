// Finds file inclusions in human entries. Text whose markers do not pair holds none.

import type { ContentBlock } from '../../content.js';
import type { InclusionSyntax } from '../../density.js';

/** What a human entry says in place of inclusions when it held nothing else. */
export const INCLUSION_POINTER = '[File content removed — included again later]';

/** One file's inclusion, found in the blocks of one human entry. */
export type FoundInclusion = TextInclusion | BlockInclusion;

/** An inclusion inside one text block, its markers and their line breaks included. */
export interface TextInclusion {
  readonly path: string;
  readonly block: number;
  /** UTF-16 offsets into the block's text, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** An inclusion made of two whole text blocks, a heading at `block` and the content after it. */
export interface BlockInclusion {
  readonly path: string;
  readonly block: number;
  /** The blocks that open and close the group it stands in. */
  readonly group: { readonly open: number; readonly close: number };
}

const CLOSING = '--- End of content ---';
const GROUP_OPENING = '--- Content from referenced files ---';
const HEADING = /^\s*Content from @(.+):\s*$/;

/** Lists the inclusions of a human entry in their order. */
export function findInclusions(
  blocks: readonly ContentBlock[],
  syntaxes: readonly InclusionSyntax[],
): readonly FoundInclusion[] {
  const groups = syntaxes.includes('referenced-files') ? findGroups(blocks) : NO_GROUPS;
  if (!syntaxes.includes('delimited')) return groups.flatMap(({ inclusions }) => inclusions);
  const found: FoundInclusion[] = [];
  let group = 0;
  for (let block = 0; block < blocks.length; block += 1) {
    const current = groups[group];
    if (current?.open === block) {
      // What stands inside a group is the content of files, whatever it looks like.
      for (const inclusion of current.inclusions) found.push(inclusion);
      block = current.close;
      group += 1;
      continue;
    }
    const content = blocks[block];
    if (content?.type === 'text') findDelimited(content.text, block, found);
  }
  return found;
}

/**
 * Adds the inclusions of one text. Inside one, a further opening line is content. A marker without
 * its partner makes all pairing in this text doubtful, and nothing is added.
 */
function findDelimited(text: string, block: number, found: FoundInclusion[]): void {
  if (!text.includes(CLOSING)) return;
  const inclusions: TextInclusion[] = [];
  let open: { path: string; start: number } | undefined;
  for (let at = text.indexOf('--- '); at !== -1; at = text.indexOf('--- ', at + 1)) {
    if (at > 0 && text[at - 1] !== '\n') continue;
    const lineBreak = text.indexOf('\n', at);
    const line = text.slice(at, lineBreak === -1 ? text.length : lineBreak).trimEnd();
    if (line === CLOSING) {
      if (open === undefined) return;
      inclusions.push({ ...open, block, end: lineBreak === -1 ? text.length : lineBreak + 1 });
      open = undefined;
    } else if (open === undefined) {
      const path = openedPath(line);
      if (path !== '') open = { path, start: at };
    }
  }
  if (open !== undefined) return;
  for (const inclusion of inclusions) found.push(inclusion);
}

/** The file of an opening line, which starts with three dashes; empty for a line that is none. */
function openedPath(line: string): string {
  return line.endsWith(' ---') ? line.slice(4, -4).trim() : '';
}

/**
 * Returns the file of an inclusion that was found in a block, from `start` of its text on or as a heading; `null` for
 * what is none.
 */
export function includedPath(block: ContentBlock, start: number): string | null {
  if (block.type !== 'text') return null;
  const [line = ''] = block.text.slice(Math.max(0, start)).split('\n', 1);
  return headingPath(block) ?? openedPath(line.trimEnd());
}

interface Group {
  readonly open: number;
  readonly close: number;
  readonly inclusions: readonly BlockInclusion[];
}

const NO_GROUPS: readonly Group[] = [];

function findGroups(blocks: readonly ContentBlock[]): readonly Group[] {
  const groups: Group[] = [];
  for (let open = 0; open < blocks.length; open += 1) {
    if (trimmedText(blocks[open]) !== GROUP_OPENING) continue;
    const headings: { path: string; block: number }[] = [];
    let close = open + 1;
    for (;;) {
      const path = headingPath(blocks[close]);
      if (path === undefined || blocks[close + 1]?.type !== 'text') break;
      headings.push({ path, block: close });
      close += 2;
    }
    if (trimmedText(blocks[close]) !== CLOSING) continue;
    const group = { open, close };
    groups.push({ ...group, inclusions: headings.map((heading) => ({ ...heading, group })) });
    open = close;
  }
  return groups;
}

/** Looks only at texts short enough to be a marker, so that no file's content is scanned. */
function trimmedText(block: ContentBlock | undefined): string | undefined {
  return block?.type === 'text' && block.text.length <= GROUP_OPENING.length + 8
    ? block.text.trim()
    : undefined;
}

const MAX_HEADING_LENGTH = 8_192;

function headingPath(block: ContentBlock | undefined): string | undefined {
  if (block?.type !== 'text' || block.text.length > MAX_HEADING_LENGTH) return undefined;
  return HEADING.exec(block.text)?.[1];
}
