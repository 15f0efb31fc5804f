// A literal implementation of the specification: scans the whole history each turn, removes by splice, and recounts every entry
// on the calling thread.

import { resolve } from 'node:path';
import { countTokens } from 'gpt-tokenizer';
import type { ContentBlock, IContent, ToolCallBlock } from '../../src/index.js';
import type { DensityResult } from '../../src/density.js';
import { blockTexts, fixedEntryTokens } from '../../src/shared/tokens/content-text.js';
import type { Peer } from './peer.js';
import type { PeerBudget } from './peer-budget.js';
import { CONFIG } from './sessions.js';

export const PLAIN_PEER: Peer = {
  name: 'the specification, written plainly',
  note: 'The same pass as a full scan with maps, removal by `splice`, and an exact recount of every entry by gpt-tokenizer after it, all on the calling thread.',
  isDocumentedPass: true,
  open: async (history, budget) => {
    let tokens = 0;
    return {
      prepareTurn: (added) => async () => {
        history.push(...added);
        apply(history, findEdits(history));
        tokens = recount(history, budget);
      },
      sent: () => history,
      countedTokens: () => tokens,
      close: async () => {},
    };
  },
};

type Edits = Pick<DensityResult, 'removals' | 'replacements'>;

const READ_TOOLS = ['read_file', 'read_line_range', 'ast_read_file'];
const WRITE_TOOLS = ['write_file', 'ast_edit', 'replace', 'insert_at_line', 'delete_line_range'];

function findEdits(history: readonly IContent[]): Edits {
  const stale = findStaleReads(history);
  const latest = findLatestInclusions(history);
  const removals: number[] = [];
  const replacements = new Map<number, IContent>();
  history.forEach((entry, index) => {
    const blocks =
      entry.speaker === 'human'
        ? entry.blocks.map((block) => withoutOldInclusions(block, index, latest))
        : entry.blocks.filter((block) => !stale.has(idOf(block) ?? ''));
    if (blocks.every((block, at) => block === entry.blocks[at])) {
      if (blocks.length === entry.blocks.length) return;
    }
    if (blocks.length === 0) removals.push(index);
    else replacements.set(index, { ...entry, blocks });
  });
  return { removals, replacements };
}

/** The ids of reads whose file a later call wrote. */
function findStaleReads(history: readonly IContent[]): ReadonlySet<string> {
  const calls = new Map<string, { readonly call: ToolCallBlock; readonly index: number }>();
  history.forEach(({ blocks }, index) => {
    for (const block of blocks) {
      if (block.type === 'tool_call') calls.set(block.id, { call: block, index });
    }
  });
  const lastWrites = new Map<string, number>();
  const stale = new Set<string>();
  for (let index = history.length - 1; index >= 0; index -= 1) {
    for (const block of history[index]?.blocks ?? []) {
      if (block.type !== 'tool_response') continue;
      const answered = calls.get(block.callId);
      const path = answered === undefined ? undefined : pathOf(answered.call);
      if (answered === undefined || path === undefined) continue;
      if (WRITE_TOOLS.includes(block.toolName) && !lastWrites.has(path)) {
        lastWrites.set(path, answered.index);
      }
      if (READ_TOOLS.includes(block.toolName) && (lastWrites.get(path) ?? -1) > index) {
        stale.add(block.callId);
      }
    }
  }
  return stale;
}

function pathOf({ parameters }: ToolCallBlock): string | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined;
  const named = parameters as Record<string, unknown>;
  const path = named['file_path'] ?? named['absolute_path'] ?? named['path'];
  return typeof path === 'string' ? resolve(CONFIG.workspaceRoot, path) : undefined;
}

function idOf(block: ContentBlock): string | undefined {
  if (block.type === 'tool_call') return block.id;
  return block.type === 'tool_response' ? block.callId : undefined;
}

const INCLUSION = /^--- (.+) ---\n[\s\S]*?^--- End of content ---\n?/gm;

function findLatestInclusions(history: readonly IContent[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  history.forEach(({ speaker, blocks }, index) => {
    for (const block of speaker === 'human' ? blocks : []) {
      if (block.type !== 'text') continue;
      for (const [, path = ''] of block.text.matchAll(INCLUSION)) {
        latest.set(resolve(CONFIG.workspaceRoot, path), index);
      }
    }
  });
  return latest;
}

function withoutOldInclusions(
  block: ContentBlock,
  index: number,
  latest: ReadonlyMap<string, number>,
): ContentBlock {
  if (block.type !== 'text') return block;
  const text = block.text.replaceAll(INCLUSION, (inclusion, path: string) =>
    latest.get(resolve(CONFIG.workspaceRoot, path)) === index ? inclusion : '',
  );
  return text === block.text ? block : { ...block, text };
}

function apply(history: IContent[], { removals, replacements }: Edits): void {
  for (const [index, replacement] of replacements) history[index] = replacement;
  for (const index of [...removals].sort((a, b) => b - a)) history.splice(index, 1);
}

function recount(history: readonly IContent[], budget: PeerBudget): number {
  let tokens = 0;
  for (const entry of history) {
    budget.assertLeft();
    tokens += fixedEntryTokens(entry);
    for (const block of entry.blocks) {
      for (const text of blockTexts(block)) tokens += countTokens(text);
    }
  }
  return tokens;
}
