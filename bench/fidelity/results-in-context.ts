// Tracks the context of a session whose results are dropped by a rule: a dropped result becomes a pointer; its call stays.

import { posix } from 'node:path';
import { PRUNED_POINTER } from '../../src/density.js';
import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../../src/index.js';
import type { Transcript } from '../../src/transcripts.js';
import { callUse } from '../../src/shared/density/index/call-use.js';
import { CALL_ACCESS } from '../../src/shared/density/index/history-columns.js';

/** A result whose payload is in the context. */
export interface ResultInContext {
  /** As recorded. */
  readonly block: ToolResponseBlock;
  /** Index of its entry. */
  readonly entry: number;
  /** The resolved files that its call read; empty if it was no read. */
  readonly readPaths: readonly string[];
  /** The first model call that is sent it, from 0. */
  readonly firstCall: number;
}

/** The input of a rule. */
export interface ContextState {
  /** Oldest first. */
  readonly results: readonly ResultInContext[];
  /** All entries so far, without dropped results. */
  readonly context: readonly IContent[];
  /** The model call, from 0. */
  readonly call: number;
  /** By file, the last model call whose answer read or wrote it. */
  readonly touchedAt: ReadonlyMap<string, number>;
}

/** Sends a session without the results that a rule names. */
export function droppingResults(
  transcript: Transcript,
  rule: (state: ContextState) => readonly ResultInContext[],
): (added: readonly IContent[]) => readonly IContent[] {
  const { preset, workspaceRoot = '/' } = transcript;
  const history: IContent[] = [];
  const touchedAt = new Map<string, number>();
  const readPaths = new Map<string, readonly string[]>();
  let results: readonly ResultInContext[] = [];
  let call = -1;

  const touch = (block: ToolCallBlock): void => {
    // Files that commands name do not count.
    const use = callUse((tool) => preset.toolCatalog[tool] ?? [], block, false);
    const paths = use.paths.map((path) => posix.resolve(workspaceRoot, path));
    for (const path of paths) touchedAt.set(path, call);
    readPaths.set(block.id, use.access === CALL_ACCESS.read ? paths : []);
  };

  return (added) => {
    const fresh: ResultInContext[] = [];
    for (const entry of added) {
      const index = history.push(entry) - 1;
      for (const block of entry.blocks) {
        if (block.type === 'tool_call') touch(block);
        if (block.type !== 'tool_response') continue;
        const paths = readPaths.get(block.callId) ?? [];
        fresh.push({ block, entry: index, readPaths: paths, firstCall: call + 1 });
      }
    }
    call += 1;
    results = [...results, ...fresh];
    const dropped = new Set(rule({ results, context: history, call, touchedAt }));
    for (const { block, entry } of dropped) replaceByPointer(history, entry, block);
    results = results.filter((result) => !dropped.has(result));
    return history;
  };
}

function replaceByPointer(history: IContent[], index: number, result: ToolResponseBlock): void {
  const entry = history[index];
  if (entry === undefined) return;
  const blocks = entry.blocks.map((block): ContentBlock => {
    return block === result ? { ...result, result: PRUNED_POINTER } : block;
  });
  history[index] = { ...entry, blocks };
}
