// Restores lines of shrunk results whose references lead to results that are being removed: otherwise the lines would be shown
// nowhere. Finds these shrunk results, and shrinks their originals again without references. Where lines have no room, references at
// least lead nowhere else. Applies nothing.

import { callName } from '../call-name.js';
import { withResult } from '../content.js';
import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { callUse } from '../density/index/call-use.js';
import { noteShrunk, shrunkFrom } from '../density/plan/materialize.js';
import type { MakeText } from '../density/plan/materialize.js';
import { shrunkResult } from '../density/rules/shrink.js';
import { isReference, sourceIdsOf } from '../shrink/shown-before.js';
import type { ShownElsewhere } from '../shrink/shown-before.js';
import { outlineHistory } from '../summarize/history-outline.js';
import { payloadText } from '../tokens/content-text.js';
import { usesOf } from '../tool-catalog.js';
import type { ToolCatalog } from '../tool-use.js';
import { checksumOfResult, rowSettings } from './journal-record.js';
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
  const use = callUse((tool) => usesOf(toolCatalog, tool), call, true);
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

/** The words of a reference that say which of several calls of a name is meant: see `nameWithPosition`. */
const POSITION = /\(the \d+[a-z]{2} back\)/;

/** Returns the text of a result whose references no longer count calls back. */
function textWithoutPositions(text: string): string {
  const isReferring = (line: string): boolean => isReference(line) || line === text;
  return text
    .split('\n')
    .map((line) => (isReferring(line) ? line.replace(POSITION, '(an earlier one)') : line))
    .join('\n');
}

/** Makes the text that replaced that of a shrunk result: the one of both that has this checksum. */
export function makeReplaced(make: MakeText, checksum: number): MakeText {
  return (response, isPlain) => {
    const plain = make(response, true);
    const isMeant = isPlain === true || checksumOfResult(plain) === checksum;
    return isMeant ? plain : textWithoutPositions(make(response));
  };
}

/** Maps each result that was made anew to the shrunk result with references that it replaces. */
const REPLACED = new WeakMap<ContentBlock, ContentBlock>();

/** The shrunk result with references that a block replaces; `undefined` for blocks that `referringEntries` did not make. */
export function referringResult(block: ContentBlock): ContentBlock | undefined {
  return REPLACED.get(block);
}

/** New entries by the entry to replace, in order. */
type NewEntries = ReadonlyMap<IContent, IContent>;

/** What can be made of the entries of a rewritten history whose references no longer lead to where they did. */
export interface ReferringEntries {
  /** With the lines of results that are gone. */
  readonly restored: NewEntries;
  /** With references that count no calls back; only those that did, and also those that lead to results that stay. */
  readonly unplaced: NewEntries;
}

/**
 * Finds the entries of a rewritten history whose results refer to results that it no longer shows, or count calls back of which some
 * are gone, and makes new versions of them. Results whose originals this process does not know stay as they are.
 */
export function referringEntries(
  former: readonly IContent[],
  rewritten: readonly IContent[],
  toolCatalog: ToolCatalog | undefined,
): ReferringEntries {
  const kept = new Set(rewritten);
  /** The blocks that stay as they are. */
  const shown = new Set(rewritten.flatMap(({ blocks }) => blocks));
  const calls = new CallsSoFar(shown);
  /** By call id, the latest result so far. */
  const answers = new Map<string, ContentBlock>();
  const isLost = (callId: string): boolean => {
    const source = answers.get(callId);
    return source !== undefined && !shown.has(source);
  };
  const found = new Set<IContent>();
  const lost = new Set<ContentBlock>();
  const moved = new Set<ContentBlock>();
  for (const entry of former) {
    for (const block of entry.blocks) {
      if (block.type === 'tool_call') calls.add(block);
      if (block.type !== 'tool_response') continue;
      const ids = (kept.has(entry) ? sourceIdsOf(block.result) : '').split(' ');
      if (ids.some(isLost)) {
        lost.add(block);
        // Without references it has more lines, so that a place in it which others name may be another one.
        shown.delete(block);
      } else if (POSITION.test(String(block.result)) && ids.some((id) => calls.areGone(id, block)))
        moved.add(block);
      if (lost.has(block) || moved.has(block)) found.add(entry);
      answers.set(block.callId, block);
    }
  }
  if (found.size === 0) return NONE;
  const { callOf } = outlineHistory(former);
  const restore: MakeBlock = (block, index, at) => {
    const call = lost.has(block) ? callOf(index, at) : undefined;
    if (call !== undefined) return blockWithoutReferences(block, call, toolCatalog);
    return moved.has(block) ? blockWithoutPositions(block) : block;
  };
  const unplace: MakeBlock = (block) =>
    lost.has(block) || moved.has(block) ? blockWithoutPositions(block) : block;
  const entriesBy = (make: MakeBlock): NewEntries => makeEntries(found, former, make);
  return { restored: entriesBy(restore), unplaced: entriesBy(unplace) };
}

const NONE: ReferringEntries = { restored: new Map(), unplaced: new Map() };

/** The calls of a history up to some entry. */
class CallsSoFar {
  readonly #shown: ReadonlySet<ContentBlock>;
  readonly #calls: ToolCallBlock[] = [];
  /** By id, the index of the latest call. */
  readonly #places = new Map<string, number>();

  /** @param shown the blocks that stay */
  constructor(shown: ReadonlySet<ContentBlock>) {
    this.#shown = shown;
  }

  add(call: ToolCallBlock): void {
    this.#places.set(call.id, this.#calls.push(call) - 1);
  }

  /** Whether calls with the name of a source, between it and the call of a result, are gone. */
  areGone(sourceId: string, { callId }: ToolResponseBlock): boolean {
    const [source, own] = [this.#places.get(sourceId), this.#places.get(callId)];
    if (source === undefined || own === undefined) return false;
    const name = callName(this.#calls[source]);
    return this.#calls
      .slice(source + 1, own)
      .some((call) => !this.#shown.has(call) && callName(call) === name);
  }
}

type MakeBlock = (block: ContentBlock, entry: number, at: number) => ContentBlock;

function makeEntries(
  found: ReadonlySet<IContent>,
  former: readonly IContent[],
  make: MakeBlock,
): NewEntries {
  const entries = new Map<IContent, IContent>();
  former.forEach((entry, index) => {
    if (!found.has(entry)) return;
    const blocks = entry.blocks.map((block, at) => make(block, index, at));
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

function blockWithoutPositions(block: ContentBlock): ContentBlock {
  const from = shrunkFrom(block);
  if (from === undefined || block.type !== 'tool_response') return block;
  const text = textWithoutPositions(String(block.result));
  if (text === block.result) return block;
  const made = withResult(from.before, text);
  noteShrunk(made, from);
  REPLACED.set(made, block);
  return made;
}
