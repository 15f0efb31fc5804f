// Restores lines of shrunk results whose references lead to results that are being removed: otherwise the lines would be shown
// nowhere. Finds these shrunk results, and shrinks their originals again without references. Applies nothing.

import { withResult } from '../content.js';
import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { callUse } from '../density/index/call-use.js';
import { shrunkFrom } from '../density/plan/materialize.js';
import { shrunkResult } from '../density/rules/shrink.js';
import { sourceIdsOf } from '../shrink/shown-before.js';
import type { ShownElsewhere } from '../shrink/shown-before.js';
import { outlineHistory } from '../summarize/history-outline.js';
import { payloadText } from '../tokens/content-text.js';
import { usesOf } from '../tool-catalog.js';
import type { ToolCatalog } from '../tool-use.js';
import { rowSettings } from './journal-record.js';
import type { RowSettings } from './journal-record.js';

/** A call, and its result as it was added to the history. */
interface Answered {
  readonly call: ToolCallBlock;
  readonly response: ToolResponseBlock;
}

/** Shrinks a result; `undefined` if it stays as it is. @param runs the lines to replace with references */
export function shrunkText(
  { call, response }: Answered,
  runs: readonly ShownElsewhere[],
  { placeholder, shrink }: RowSettings,
  toolCatalog: ToolCatalog | undefined,
): string | undefined {
  if (shrink === undefined) return undefined;
  const use = callUse(usesOf(toolCatalog, call.name), call.parameters, true);
  return shrunkResult({ call, response }, runs, use, shrink, placeholder);
}

/** Like `shrunkText`, but without references to other results, and with the original text if it cannot be shrunk. */
export function textWithoutReferences(
  answered: Answered,
  settings: RowSettings,
  toolCatalog: ToolCatalog | undefined,
): string {
  const text = shrunkText(answered, [], settings, toolCatalog);
  return text ?? payloadText(answered.response.result);
}

/** Maps each result without references to the shrunk result with references that it replaces. */
const REPLACED = new WeakMap<ContentBlock, ContentBlock>();

/** The shrunk result with references that a block replaces; `undefined` for blocks that `entriesWithoutReferences` did not make. */
export function referringResult(block: ContentBlock): ContentBlock | undefined {
  return REPLACED.get(block);
}

/**
 * Finds the entries of a rewritten history whose results refer to results that it no longer shows, and makes versions without these
 * references. Returns the new entries by the entry to replace, in order. Results whose originals this process does not know stay as
 * they are.
 */
export function entriesWithoutReferences(
  former: readonly IContent[],
  rewritten: readonly IContent[],
  toolCatalog: ToolCatalog | undefined,
): ReadonlyMap<IContent, IContent> {
  const kept = new Set(rewritten);
  /** The results that stay as they are. */
  const shown = new Set(rewritten.flatMap(({ blocks }) => blocks));
  /** By call id, the latest result so far. */
  const answers = new Map<string, ContentBlock>();
  const isLost = (callId: string): boolean => {
    const source = answers.get(callId);
    return source !== undefined && !shown.has(source);
  };
  const found = new Map<IContent, ReadonlySet<ContentBlock>>();
  for (const entry of former) {
    const lost = new Set<ContentBlock>();
    for (const block of entry.blocks) {
      if (block.type !== 'tool_response') continue;
      const ids = kept.has(entry) ? sourceIdsOf(block.result) : '';
      if (ids !== '' && ids.split(' ').some(isLost)) {
        lost.add(block);
        // Without references it has more lines, so that a place in it which others name may be another one.
        shown.delete(block);
      }
      answers.set(block.callId, block);
    }
    if (lost.size > 0) found.set(entry, lost);
  }
  return found.size === 0 ? NONE_LOST : makeEntries(found, former, toolCatalog);
}

const NONE_LOST: ReadonlyMap<IContent, IContent> = new Map();

function makeEntries(
  found: ReadonlyMap<IContent, ReadonlySet<ContentBlock>>,
  former: readonly IContent[],
  toolCatalog: ToolCatalog | undefined,
): ReadonlyMap<IContent, IContent> {
  const { callOf } = outlineHistory(former);
  const entries = new Map<IContent, IContent>();
  former.forEach((entry, index) => {
    const lost = found.get(entry);
    if (lost === undefined) return;
    const blocks = entry.blocks.map((block, at) => {
      const call = lost.has(block) ? callOf(index, at) : undefined;
      return call === undefined ? block : blockWithoutReferences(block, call, toolCatalog);
    });
    if (blocks.some((block, at) => block !== entry.blocks[at]))
      entries.set(entry, { ...entry, blocks });
  });
  return entries;
}

function blockWithoutReferences(
  block: ContentBlock,
  call: ToolCallBlock,
  toolCatalog: ToolCatalog | undefined,
): ContentBlock {
  const from = shrunkFrom(block);
  if (from === undefined) return block;
  const { before } = from;
  const settings = rowSettings(from.settings);
  const made = withResult(
    before,
    textWithoutReferences({ call, response: before }, settings, toolCatalog),
  );
  REPLACED.set(made, block);
  return made;
}
