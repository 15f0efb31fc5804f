// Finds file inclusions in human entries. Texts whose markers do not pair up hold none. Text
// between markers comes from files and may look like a marker itself.

import type { ContentBlock } from '../../content.js';
import { DOCUMENTED_INCLUSION_SYNTAXES } from '../../density.js';
import type { DensityConfig } from '../../density.js';
import { pathKey } from './text-table.js';

/** The text of a human entry that held nothing but inclusions. */
export const INCLUSION_POINTER = '[File content removed — included again later]';

/** A file inclusion in a human entry. */
export type FoundInclusion = TextInclusion | BlockInclusion;

/** An inclusion within one text block, including its marker lines. */
export interface TextInclusion {
  readonly path: string;
  readonly block: number;
  /** UTF-16 offsets into the block's text, end exclusive. */
  readonly start: number;
  readonly end: number;
}

/** An inclusion of two whole text blocks: a heading at `block`, then the content. */
export interface BlockInclusion {
  readonly path: string;
  readonly block: number;
  /** The blocks that open and close its group. */
  readonly group: { readonly open: number; readonly close: number };
}

/** Closes a `delimited` inclusion or a group of `referenced-files`. */
export const INCLUSION_END = '--- End of content ---';
/** Opens a group of `referenced-files`. */
export const GROUP_OPENING = '--- Content from referenced files ---';
const HEADING = /^\s*Content from @(.+):\s*$/;

/** Lists the inclusions of a human entry in order. */
export function findInclusions(
  blocks: readonly ContentBlock[],
  {
    workspaceRoot,
    inclusionSyntaxes = DOCUMENTED_INCLUSION_SYNTAXES,
  }: Pick<DensityConfig, 'workspaceRoot' | 'inclusionSyntaxes'>,
): readonly FoundInclusion[] {
  const groups = inclusionSyntaxes.includes('referenced-files') ? findGroups(blocks) : NO_GROUPS;
  const areTextsTrusted = inclusionSyntaxes.includes('delimited');
  if (!areTextsTrusted && !inclusionSyntaxes.includes('asked-for')) {
    return groups.flatMap(({ inclusions }) => inclusions);
  }
  const found: FoundInclusion[] = [];
  let isCertain = true;
  let group = 0;
  for (let block = 0; block < blocks.length; block += 1) {
    const current = groups[group];
    if (current?.open === block) {
      // Everything inside a group is file content, whatever it looks like.
      for (const inclusion of current.inclusions) found.push(inclusion);
      block = current.close;
      group += 1;
      continue;
    }
    const content = blocks[block];
    if (content?.type !== 'text') continue;
    const arePaired = findDelimited(content.text, block, found);
    // After an unpaired group opening, texts may be file content.
    isCertain &&= arePaired && trimmedText(content) !== GROUP_OPENING;
  }
  if (areTextsTrusted || (isCertain && wereRequested(found, blocks, workspaceRoot))) return found;
  return found.filter((inclusion) => !isInText(inclusion));
}

function isInText(inclusion: FoundInclusion): inclusion is TextInclusion {
  return 'start' in inclusion;
}

/**
 * Whether the entry asks for each included file, and includes none twice. A file could fake the end
 * of its own inclusion and the start of another, but that would be a file not asked for, or a
 * second inclusion of one. The entry's own words end at the first marker: everything later may be
 * file content.
 */
function wereRequested(
  found: readonly FoundInclusion[],
  blocks: readonly ContentBlock[],
  workspaceRoot: string,
): boolean {
  const paths = found.filter(isInText).map(({ path }) => pathKey(workspaceRoot, path));
  const first = blocks.find(({ type }) => type === 'text');
  if (paths.length === 0 || first?.type !== 'text') return false;
  const [marker] = markersOf(first.text);
  const asked = filesAskedFor(first.text.slice(0, marker?.start), workspaceRoot);
  return new Set(paths).size === paths.length && paths.every((path) => asked.has(path));
}

/** A line that opens or closes an inclusion. */
interface Marker {
  /** UTF-16 offsets of the line including its break, end exclusive. */
  readonly start: number;
  readonly end: number;
  /** `undefined` for a closing line. */
  readonly path: string | undefined;
}

function* markersOf(text: string): Generator<Marker> {
  for (let at = text.indexOf('--- '); at !== -1; at = text.indexOf('--- ', at + 1)) {
    if (at > 0 && text[at - 1] !== '\n') continue;
    const lineBreak = text.indexOf('\n', at);
    const line = text.slice(at, lineBreak === -1 ? text.length : lineBreak).trimEnd();
    const place = { start: at, end: lineBreak === -1 ? text.length : lineBreak + 1 };
    const path = line.endsWith(' ---') ? line.slice(4, -4).trim() : '';
    if (line === INCLUSION_END) yield { ...place, path: undefined };
    else if (path !== '') yield { ...place, path };
  }
}

/**
 * Adds the inclusions of one text; opening lines inside one are content. An unpaired closing line,
 * or an unpaired opening line in a text with closing ones, makes all pairing doubtful: then nothing
 * is added and `false` is returned.
 */
function findDelimited(text: string, block: number, found: FoundInclusion[]): boolean {
  if (!text.includes(INCLUSION_END)) return true;
  const inclusions: TextInclusion[] = [];
  let open: { path: string; start: number } | undefined;
  for (const { path, start, end } of markersOf(text)) {
    if (path !== undefined) open ??= { path, start };
    else if (open === undefined) return false;
    else {
      inclusions.push({ ...open, block, end });
      open = undefined;
    }
  }
  if (open !== undefined) return false;
  for (const inclusion of inclusions) found.push(inclusion);
  return true;
}

/**
 * Returns the path of an inclusion found in this block, at `start` of its text or (if negative) as
 * a heading; `null` if there is none.
 */
export function includedPath(block: ContentBlock, start: number): string | null {
  if (block.type !== 'text') return null;
  if (start < 0) return headingPath(block) ?? null;
  const [marker] = markersOf(block.text.slice(start));
  return marker?.path ?? null;
}

/** By block, the ends of the inclusions in its text by their starts: a journal may cut thousands of them. */
const ENDS_BY_START = new WeakMap<ContentBlock, ReadonlyMap<number, number>>();

/** Whether a range of a block is an inclusion in its text. Nothing else that a user wrote may be cut. */
export function isInclusion(
  block: ContentBlock | undefined,
  { start, end }: Pick<TextInclusion, 'start' | 'end'>,
): boolean {
  if (block?.type !== 'text') return false;
  let ends = ENDS_BY_START.get(block);
  if (ends === undefined) {
    const found: FoundInclusion[] = [];
    findDelimited(block.text, 0, found);
    ends = new Map(found.filter(isInText).map((each) => [each.start, each.end]));
    ENDS_BY_START.set(block, ends);
  }
  return ends.get(start) === end;
}

interface Group {
  readonly open: number;
  readonly close: number;
  readonly inclusions: readonly BlockInclusion[];
}

const NO_GROUPS: readonly Group[] = [];

/**
 * Finds the groups of an entry. Content that could be a marker makes it unclear which block is one,
 * so the group it is in and all later ones are ignored. Linear.
 */
function findGroups(blocks: readonly ContentBlock[]): readonly Group[] {
  const groups: Group[] = [];
  for (let open = 0; open < blocks.length; open += 1) {
    if (trimmedText(blocks[open]) !== GROUP_OPENING) continue;
    const headings: { path: string; block: number }[] = [];
    let close = open + 1;
    for (;;) {
      const path = headingPath(blocks[close]);
      if (path === undefined || !isContent(blocks[close + 1])) break;
      headings.push({ path, block: close });
      close += 2;
    }
    if (trimmedText(blocks[close]) !== INCLUSION_END) break;
    const group = { open, close };
    groups.push({ ...group, inclusions: headings.map((heading) => ({ ...heading, group })) });
    open = close;
  }
  return groups;
}

function isContent(block: ContentBlock | undefined): boolean {
  if (block?.type !== 'text' || headingPath(block) !== undefined) return false;
  const text = trimmedText(block);
  return text !== GROUP_OPENING && text !== INCLUSION_END;
}

/** Reads only texts short enough to be a marker, so that no file content is scanned. */
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

/** `@"quoted name"`, or `@name` up to the next space that is not escaped by a backslash. */
const MENTION = /(?<![\w@./-])@(?:"([^"\n]+)"|((?:\\.|[^\s\\])+))/g;
const ESCAPE = /\\(.)/g;
/** Punctuation that may follow a name. */
const PUNCTUATION = '.,;:!?)]}>\'"`*';

/**
 * Returns the absolute paths that these words may ask for by `@path`; since a name may end with a
 * dot, with and without trailing punctuation.
 */
export function filesAskedFor(words: string, workspaceRoot: string): ReadonlySet<string> {
  const spellings = new Set<string>();
  for (const [, quoted, bare = ''] of words.matchAll(MENTION)) {
    const names = quoted === undefined ? [bare, withoutPunctuation(bare)] : [quoted];
    for (const name of names) spellings.add(name).add(name.replace(ESCAPE, '$1'));
  }
  return new Set(Array.from(spellings, (name) => pathKey(workspaceRoot, name)));
}

function withoutPunctuation(name: string): string {
  let end = name.length;
  while (end > 0 && PUNCTUATION.includes(name.charAt(end - 1))) end -= 1;
  return name.slice(0, end);
}
