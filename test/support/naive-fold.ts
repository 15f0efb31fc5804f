// A naive fold of a journal: one record at a time, all texts at once, a new list for each step.

import { withResult } from '../../src/shared/content.js';
import type { ContentBlock, IContent, ToolCallBlock } from '../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../src/shared/density.js';
import { callUse } from '../../src/shared/density/index/call-use.js';
import { materializeDensityPlan } from '../../src/shared/density/plan/materialize.js';
import { ROW_LENGTH } from '../../src/shared/density/plan/plan.js';
import { ACTION } from '../../src/shared/density/rules/marks.js';
import { isReference } from '../../src/shared/shrink/shown-before.js';
import { callName, MAX_CALLS_BACK, nameWithPosition } from '../../src/shared/call-name.js';
import { shrunkResult } from '../../src/shared/density/rules/shrink.js';
import { checksumOfResult } from '../../src/shared/state/journal-record.js';
import type { JournalRecord, RowSettings } from '../../src/shared/state/journal-record.js';
import { answeredCalls } from '../../src/shared/summarize/history-outline.js';
import { payloadText } from '../../src/shared/tokens/content-text.js';
import { usesOf } from '../../src/shared/tool-catalog.js';
import type { ToolCatalog } from '../../src/shared/tool-use.js';

/** The history that a journal produces from its original entries. */
export function foldNaively(
  raw: readonly IContent[],
  records: readonly JournalRecord[],
  toolCatalog: ToolCatalog | undefined,
): readonly IContent[] {
  let settings: RowSettings = { placeholder: 'pointer' };
  let list: readonly IContent[] = [];
  let taken = 0;
  /** By shrunk result, the result without references. */
  const alone = new Map<ContentBlock, ContentBlock>();
  for (const record of records) {
    if (record.kind === 'settings') {
      settings = record.settings;
      continue;
    }
    list = [...list, ...raw.slice(taken, record.at)];
    taken = record.at;
    if (record.kind === 'rows') list = afterRows(record, list, settings, toolCatalog, alone);
    if (record.kind === 'splice') list = afterSplice(record, list, alone);
  }
  return [...list, ...raw.slice(taken)];
}

function afterRows(
  { rows, shown }: JournalRecord & { readonly kind: 'rows' },
  list: readonly IContent[],
  { placeholder, shrink }: RowSettings,
  toolCatalog: ToolCatalog | undefined,
  alone: Map<ContentBlock, ContentBlock>,
): readonly IContent[] {
  const shrunkAlone = new Map<string, ContentBlock>();
  const texts: string[] = [];
  for (let at = 0; at < rows.length; at += ROW_LENGTH) {
    const [entry = 0, place = 0, action, , start = 0] = rows.subarray(at, at + ROW_LENGTH);
    if (action !== ACTION.shrink) continue;
    const response = list[entry]?.blocks[place];
    const call = answeredCalls(list)(entry, place);
    if (response?.type !== 'tool_response' || call === undefined || shrink === undefined) continue;
    const runs = (shown[start] ?? []).map(({ entriesBack, block, ...lines }) => {
      const source = list[entry - entriesBack]?.blocks[block];
      const callId = source?.type === 'tool_response' ? source.callId : '';
      const shown = answeredCalls(list)(entry - entriesBack, block);
      const calls = list
        .slice(0, entry + 1)
        .flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'tool_call'))
        .slice(-MAX_CALLS_BACK) as readonly ToolCallBlock[];
      const isNear = shown !== undefined && calls.includes(shown);
      const between = isNear ? calls.slice(calls.indexOf(shown) + 1, calls.indexOf(call)) : [];
      const later = between.filter((other) => callName(other) === callName(shown));
      const name = nameWithPosition(callName(shown), later.length);
      return { ...lines, source: { callId, name } };
    });
    const use = callUse((tool) => usesOf(toolCatalog, tool), call, true);
    const text = shrunkResult({ call, response }, runs, use, shrink, placeholder) ?? '';
    const ownText = shrunkResult({ call, response }, [], use, shrink, placeholder);
    texts[start] = text;
    const own = withResult(response, ownText ?? payloadText(response.result));
    shrunkAlone.set(`${entry} ${response.callId} ${text}`, own);
  }
  const made = { ...DEFAULT_DENSITY_CONFIG, placeholder };
  const { removals, replacements } = materializeDensityPlan(rows, list, made, texts);
  for (const [entry, { blocks }] of replacements) {
    for (const block of blocks) {
      if (block.type !== 'tool_response') continue;
      const own = shrunkAlone.get(`${entry} ${block.callId} ${String(block.result)}`);
      if (own !== undefined) alone.set(block, own);
    }
  }
  return list.flatMap((entry, index) =>
    removals.includes(index) ? [] : (replacements.get(index) ?? entry),
  );
}

function afterSplice(
  { pieces }: JournalRecord & { readonly kind: 'splice' },
  list: readonly IContent[],
  alone: Map<ContentBlock, ContentBlock>,
): readonly IContent[] {
  let next = 0;
  return pieces.flatMap((piece): readonly IContent[] => {
    if (piece.kind === 'written') return [piece.entry as IContent];
    const from = next + piece.skipped;
    next = from + (piece.kind === 'stay' ? piece.kept : 1);
    if (piece.kind === 'stay') return list.slice(from, next);
    const entry = list[from] as IContent;
    const blocks = piece.blocks.map((origin): ContentBlock => {
      if (typeof origin === 'number') return entry.blocks[origin] as ContentBlock;
      if ('type' in origin) return origin as ContentBlock;
      const block = entry.blocks[origin[0]];
      if (block?.type !== 'tool_response') throw new Error('Expected a result.');
      const [, change] = origin;
      if (typeof change === 'string') return withResult(block, change);
      const plain = alone.get(block) ?? block;
      if (plain.type === 'tool_response' && checksumOfResult(payloadText(plain.result)) === change)
        return plain;
      // Its lines did not fit: the references stay, but count no calls back.
      const unplaced = withResult(block, withoutPositions(String(block.result)));
      alone.set(unplaced, plain);
      return unplaced;
    });
    return [{ ...entry, blocks }];
  });
}

function withoutPositions(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const isReferring = isReference(line) || line === text;
      return isReferring ? line.replace(/\(the \d+[a-z]{2} back\)/, '(an earlier one)') : line;
    })
    .join('\n');
}
