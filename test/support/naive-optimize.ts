// A second implementation of the documented density rules, as an oracle. Scans the whole history for every question, shares
// no code with src/shared/density/, and is not meant to be fast.

import { resolve } from 'node:path';

import type {
  ContentBlock,
  IContent,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../src/shared/content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from '../../src/shared/density.js';
import type { DensityConfig, DensityResult } from '../../src/shared/density.js';
import { INCLUSION_POINTER } from '../../src/shared/density/index/file-inclusions.js';
import { naiveExcerpt } from './naive-excerpt.js';
import { naivelyShortened } from './naive-spent.js';
import { naiveOutsideWorkingSet } from './naive-working-set.js';

const READ_TOOLS = ['read_file', 'read_line_range', 'read_many_files', 'ast_read_file'];
/** Only in the catalog of working-set histories. */
const FURTHER_READ_TOOLS = ['view_lines', 'view_range'];
const PARTIAL_WRITE_TOOLS = ['ast_edit', 'replace', 'insert_at_line', 'delete_line_range'];

interface Located<Block> {
  readonly entry: number;
  readonly block: Block;
}

interface Pair {
  readonly call: Located<ToolCallBlock>;
  readonly response: Located<ToolResponseBlock>;
}

interface Inclusion {
  readonly entry: number;
  /** Index of the text block in its entry. */
  readonly at: number;
  readonly path: string;
  readonly firstLine: number;
  readonly lastLine: number;
}

/** The naive `optimize`. Every block object must be unique in the history. */
export function naiveOptimize(history: readonly IContent[], config: DensityConfig): DensityResult {
  const pairs = pairUp(history);
  const stale = config.readWritePruning ? findStaleReads(pairs, config) : [];
  const staleBlocks = stale.flatMap(({ call, response }): ContentBlock[] => [
    call.block,
    response.block,
  ]);
  const superseded = config.fileDedupe ? findSuperseded(history, config.workspaceRoot) : [];
  const old = config.recencyPruning
    ? findOldResults(history, staleBlocks, Math.max(1, config.recencyRetention))
    : [];
  const outside =
    config.workingSet === undefined
      ? undefined
      : naiveOutsideWorkingSet(history, config.workingSet, config.workspaceRoot, {
          blocks: staleBlocks,
          results: old,
        });

  const removals: number[] = [];
  const replacements = new Map<number, IContent>();
  history.forEach((content, entry) => {
    const blocks = content.blocks.flatMap((block, at): ContentBlock[] => {
      if (staleBlocks.includes(block)) return [];
      if (block.type === 'tool_response') {
        const fate = old.includes(block) ? 'pointer' : outside?.results.get(block);
        if (fate === undefined) return [block];
        const pointer = old.includes(block) ? PRUNED_POINTER : REMOVED_POINTER;
        const isCut = fate === 'excerpt';
        const pruned = {
          ...block,
          result: isCut ? naiveExcerpt(block.result, block.toolName, block.error) : pointer,
        };
        delete pruned.mediaTokens;
        return [pruned];
      }
      const cuts = superseded.filter((cut) => cut.entry === entry && cut.at === at);
      if (block.type !== 'text' || cuts.length === 0) return [block];
      const text = cutLines(block.text, cuts);
      return text.trim() === '' ? [] : [{ ...block, text }];
    });
    const bound = content.speaker === 'ai' ? findBound(content.blocks, blocks) : [];
    for (const block of bound) blocks.splice(blocks.indexOf(block), 1);
    const orphans = content.speaker === 'ai' ? findOrphans(content.blocks, blocks) : [];
    for (const orphan of orphans) blocks.splice(blocks.indexOf(orphan), 1);
    for (const [at, block] of blocks.entries()) {
      if (block.type !== 'tool_call' || outside?.calls.has(block) !== true) continue;
      blocks[at] = naivelyShortened(block);
    }
    const isUntouched =
      blocks.length === content.blocks.length &&
      blocks.every((block, at) => block === content.blocks[at]);
    if (isUntouched) return;
    if (blocks.some(saysSomething)) replacements.set(entry, { ...content, blocks });
    else if (content.speaker !== 'human') removals.push(entry);
    else {
      const pointer = { type: 'text', text: INCLUSION_POINTER } as const;
      replacements.set(entry, { ...content, blocks: [pointer] });
    }
  });
  return {
    removals,
    replacements,
    metadata: {
      readWritePairsPruned: stale.length,
      fileDeduplicationsPruned: superseded.length,
      recencyPruned: old.length,
      ...(outside !== undefined && { workingSetPruned: outside.results.size + outside.calls.size }),
    },
  };
}

/** An approval leaves with its call. */
function findBound(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
): readonly ContentBlock[] {
  const holdsCall = (blocks: readonly ContentBlock[], id: string): boolean =>
    blocks.some((block) => block.type === 'tool_call' && block.id === id);
  return after.filter(
    (block) =>
      block.type === 'opaque' &&
      block.callId !== undefined &&
      holdsCall(before, block.callId) &&
      !holdsCall(after, block.callId),
  );
}

/** Reasoning leaves when everything said or called between it and the next reasoning leaves. */
function findOrphans(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
): readonly ContentBlock[] {
  return before.filter((thought, at) => {
    if (thought.type !== 'thinking') return false;
    const behind = before.slice(at + 1);
    const start = behind.findIndex(saysSomething);
    if (start === -1) return false;
    const rest = behind.slice(start);
    const next = rest.findIndex((block) => block.type === 'thinking');
    const ledTo = rest.slice(0, next === -1 ? rest.length : next).filter(saysSomething);
    return !ledTo.some((block) => after.includes(block));
  });
}

/** Reasoning and blanks alone are no message. */
function saysSomething(block: ContentBlock): boolean {
  if (block.type === 'text') return block.text.trim() !== '';
  if (block.type === 'code') return block.code.trim() !== '';
  return block.type !== 'thinking';
}

/**
 * A response belongs to the nearest earlier call with its id that has no response yet. Only calls in ai entries and
 * responses in tool entries count.
 */
function pairUp(history: readonly IContent[]): readonly Pair[] {
  const calls: Located<ToolCallBlock>[] = [];
  const pairs: Pair[] = [];
  history.forEach((content, entry) => {
    for (const block of content.blocks) {
      if (block.type === 'tool_call' && content.speaker === 'ai') calls.unshift({ entry, block });
      if (block.type !== 'tool_response' || content.speaker !== 'tool') continue;
      if (block.isComplete === false) continue;
      const call = calls.find(
        (candidate) =>
          candidate.block.id === block.callId && !pairs.some((pair) => pair.call === candidate),
      );
      if (call !== undefined) pairs.push({ call, response: { entry, block } });
    }
  });
  return pairs;
}

/** A read that finished after the write's call may have seen the written content. */
function findStaleReads(
  pairs: readonly Pair[],
  { workspaceRoot: root, partialWritesSupersede, workingSet, toolCatalog }: DensityConfig,
): readonly Pair[] {
  const doEditsCount = partialWritesSupersede ?? workingSet === undefined;
  const readTools = toolCatalog === undefined ? READ_TOOLS : [...READ_TOOLS, ...FURTHER_READ_TOOLS];
  const writeTools = ['write_file', ...(doEditsCount ? PARTIAL_WRITE_TOOLS : [])];
  const isWrittenAfter = (path: string, entry: number): boolean =>
    pairs.some(
      ({ call, response }) =>
        call.entry > entry &&
        writeTools.includes(call.block.name) &&
        response.block.error === undefined &&
        pathsOf(call.block, root).includes(path),
    );
  return pairs.filter(({ call, response }) => {
    const paths = readTools.includes(call.block.name) ? pathsOf(call.block, root) : [];
    return paths.length > 0 && paths.every((path) => isWrittenAfter(path, response.entry));
  });
}

/** The resolved files that a call names; none if any of them is unclear. */
function pathsOf({ name, parameters }: ToolCallBlock, root: string): readonly string[] {
  if (typeof parameters !== 'object' || parameters === null) return [];
  const named = parameters as Record<string, unknown>;
  const given: unknown =
    name === 'read_many_files'
      ? named['paths']
      : [named['file_path'] ?? named['absolute_path'] ?? named['path']];
  if (!Array.isArray(given)) return [];
  const paths = given.filter((path) => typeof path === 'string' && path !== '');
  const isVague = name === 'read_many_files' && paths.some((path) => /[*?]/.test(String(path)));
  if (isVague || paths.length < given.length) return [];
  return paths.map((path) => resolve(root, String(path)));
}

/** Every inclusion of a file but the last. */
function findSuperseded(history: readonly IContent[], root: string): readonly Inclusion[] {
  const inclusions = history.flatMap((content, entry) =>
    content.speaker === 'human'
      ? content.blocks.flatMap((block, at) =>
          block.type === 'text' ? findInclusions(block.text, entry, at) : [],
        )
      : [],
  );
  return inclusions.filter((inclusion, at) =>
    inclusions
      .slice(at + 1)
      .some((later) => resolve(root, later.path) === resolve(root, inclusion.path)),
  );
}

const CLOSING = '--- End of content ---';

/** None when a marker has no partner, because then the text must stay untouched. */
function findInclusions(text: string, entry: number, at: number): readonly Inclusion[] {
  const inclusions: Inclusion[] = [];
  let open: { readonly path: string; readonly firstLine: number } | null = null;
  for (const [number, line] of text.split('\n').entries()) {
    if (line === CLOSING) {
      if (open === null) return [];
      inclusions.push({ entry, at, ...open, lastLine: number });
      open = null;
    } else if (open === null) {
      const path = /^--- (.+) ---$/.exec(line)?.[1];
      if (path !== undefined) open = { path, firstLine: number };
    }
  }
  return open === null ? inclusions : [];
}

/** A line includes its line break. */
function cutLines(text: string, cuts: readonly Inclusion[]): string {
  return text
    .split(/(?<=\n)/)
    .filter((_, line) => !cuts.some((cut) => cut.firstLine <= line && line <= cut.lastLine))
    .join('');
}

function findOldResults(
  history: readonly IContent[],
  gone: readonly ContentBlock[],
  retention: number,
): readonly ToolResponseBlock[] {
  const responses = history
    .filter((content) => content.speaker === 'tool')
    .flatMap((content) => content.blocks)
    .filter((block) => block.type === 'tool_response')
    .filter((block) => block.isComplete !== false && !gone.includes(block));
  return responses.filter((response, at) => {
    const newer = responses.slice(at + 1).filter((other) => other.toolName === response.toolName);
    return (
      newer.length >= retention &&
      response.result !== PRUNED_POINTER &&
      response.result !== REMOVED_POINTER
    );
  });
}
