// Finds file inclusions in human entries. Text whose markers do not pair holds none. What stands between markers
// was written by somebody else, and may look like a marker itself.

import type { ContentBlock } from '../../content.js';
import { resolve } from 'node:path';
import { DOCUMENTED_INCLUSION_SYNTAXES } from '../../density.js';
import type { DensityConfig, InclusionSyntax } from '../../density.js';

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

/** What closes an inclusion of `delimited`, and a group of `referenced-files`. */
export const INCLUSION_END = '--- End of content ---';
/** What opens such a group. */
export const GROUP_OPENING = '--- Content from referenced files ---';
const HEADING = /^\s*Content from @(.+):\s*$/;

/** The shapes of inclusions that are looked for. */
export function syntaxesOf({
  inclusionSyntaxes,
}: Pick<DensityConfig, 'inclusionSyntaxes'>): readonly InclusionSyntax[] {
  return inclusionSyntaxes ?? DOCUMENTED_INCLUSION_SYNTAXES;
}

/** Lists the inclusions of a human entry in their order. */
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
      // What stands inside a group is the content of files, whatever it looks like.
      for (const inclusion of current.inclusions) found.push(inclusion);
      block = current.close;
      group += 1;
      continue;
    }
    const content = blocks[block];
    if (content?.type !== 'text') continue;
    const arePaired = findDelimited(content.text, block, found);
    // Behind the start of a group that is none, texts may be files.
    isCertain &&= arePaired && trimmedText(content) !== GROUP_OPENING;
  }
  if (areTextsTrusted || (isCertain && areAskedFor(found, blocks, workspaceRoot))) return found;
  return found.filter((inclusion) => !isInText(inclusion));
}

function isInText(inclusion: FoundInclusion): inclusion is TextInclusion {
  return 'start' in inclusion;
}

/**
 * Whether an entry asks for each file that its texts include, and includes none of them twice. A file can end its own
 * inclusion and begin one of another file, but that is then one more than was asked for, or a second one. An
 * entry's own words end where its first inclusion begins: whatever comes later may be the content of a file.
 */
function areAskedFor(
  found: readonly FoundInclusion[],
  blocks: readonly ContentBlock[],
  workspaceRoot: string,
): boolean {
  const paths = found.filter(isInText).map(({ path }) => resolve(workspaceRoot, path));
  const first = blocks.find(({ type }) => type === 'text');
  if (paths.length === 0 || first?.type !== 'text') return false;
  const [marker] = markersOf(first.text);
  const asked = filesAskedFor(first.text.slice(0, marker?.start), workspaceRoot);
  return new Set(paths).size === paths.length && paths.every((path) => asked.has(path));
}

/** A line that opens an inclusion, or closes one. */
interface Marker {
  /** UTF-16 offsets of the line, its break included; end exclusive. */
  readonly start: number;
  readonly end: number;
  /** `undefined` when it closes. */
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
 * Adds the inclusions of one text. Inside one, a further opening line is content. A closing line without
 * its partner makes all pairing in this text doubtful, and so does an opening one in a text with closing ones: nothing is
 * added then, and `false` returned.
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
 * Returns the file of an inclusion that was found in a block, from `start` of its text on or as a heading; `null` for
 * what is none.
 */
export function includedPath(block: ContentBlock, start: number): string | null {
  if (block.type !== 'text') return null;
  if (start < 0) return headingPath(block) ?? null;
  const [marker] = markersOf(block.text.slice(start));
  return marker?.path ?? null;
}

interface Group {
  readonly open: number;
  readonly close: number;
  readonly inclusions: readonly BlockInclusion[];
}

const NO_GROUPS: readonly Group[] = [];

/**
 * Finds the groups of an entry. A file whose content could be a marker leaves open which block is one: from the group that
 * it stands in on, there are none. Linear.
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

/** A name in quotes, or all up to the next space; a space with a backslash before it belongs to the name. */
const MENTION = /(?<![\w@./-])@(?:"([^"\n]+)"|((?:\\.|[^\s\\])+))/g;
const ESCAPE = /\\(.)/g;
/** What a sentence puts behind a name. */
const PUNCTUATION = '.,;:!?)]}>\'"`*';

/** Returns the absolute paths of the files that words ask for; with each that may be one, for a name may end with a dot. */
export function filesAskedFor(words: string, workspaceRoot: string): ReadonlySet<string> {
  const files = new Set<string>();
  for (const [, quoted, bare = ''] of words.matchAll(MENTION)) {
    const names = quoted === undefined ? [bare, withoutPunctuation(bare)] : [quoted];
    for (const name of names) {
      files.add(resolve(workspaceRoot, name));
      files.add(resolve(workspaceRoot, name.replace(ESCAPE, '$1')));
    }
  }
  return files;
}

function withoutPunctuation(name: string): string {
  let end = name.length;
  while (end > 0 && PUNCTUATION.includes(name.charAt(end - 1))) end -= 1;
  return name.slice(0, end);
}
