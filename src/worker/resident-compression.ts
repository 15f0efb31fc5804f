// Plans a compression by the strategy `high-density` on a resident history, with the same decisions as on the entries themselves.
// Writes the summary lines that replace results.

import { placeholderOf } from '../shared/density.js';
import { NONE, IntColumn } from '../shared/density/index/history-columns.js';
import type { HistoryIndex } from '../shared/density/index/history-index.js';
import type { CompressionRequest, PlannedCompression } from '../shared/resident-protocol.js';
import type { HistoryOutline } from '../shared/summarize/history-outline.js';
import { findTailStart } from '../shared/summarize/plan-compression.js';
import { placeholderEnding } from '../shared/placeholder.js';
import { isNoShorter, summaryLine } from '../shared/summarize/tool-summary.js';
import { chooseDrops } from '../shared/summarize/truncation.js';
import type { CountText } from '../shared/tokens/count-tokens.js';
import { EMPTY_ENTRY_FLAG } from './resident-facts.js';
import type { ResidentFacts } from './resident-facts.js';

/** Returns the plan, or `null` if a result that must be summarized was not counted here. */
export function planResidentCompression(
  index: HistoryIndex,
  facts: ResidentFacts,
  request: CompressionRequest,
  countText: CountText,
): PlannedCompression | null {
  const { preserveThreshold, targetTokens, keepsShort } = request;
  const placeholder = placeholderOf(request);
  const curated = curate(facts);
  const outline = outlineIndex(index, facts, curated);
  const tailStart = findTailStart(outline, preserveThreshold);
  const tokens = Int32Array.from(curated.entries, (entry) => facts.entryTokens.at(entry));
  const lines = new Map<number, string>();
  const { responses } = index;
  for (let row = 0; row < responses.length; row += 1) {
    const entry = curated.indices[responses.entry.at(row)] ?? NONE;
    if (entry >= tailStart) break;
    const digest = facts.digestOfResponse(row);
    if (digest === undefined) return null;
    if (digest.isSummary) continue;
    const call = responses.call.at(row);
    const line = summaryLine(
      digest,
      call === NONE ? undefined : { key: facts.keyOfCall(call) },
      placeholderEnding(index.idOf(responses.id.at(row)), placeholder),
    );
    if (keepsShort === true && isNoShorter(line, digest)) continue;
    lines.set(row, line);
    tokens[entry] = (tokens[entry] ?? 0) - facts.resultTokens.at(row) + countText(line);
  }
  const drops = chooseDrops({ outline, tokens, tailStart }, targetTokens);
  return toPlannedCompression(index, curated, tokens, drops, lines);
}

interface Curated {
  /** Index in the curated history → index in the raw history. */
  readonly entries: readonly number[];
  /** Index in the raw history → index in the curated history, or `NONE`. */
  readonly indices: Int32Array;
}

function curate({ flags }: ResidentFacts): Curated {
  const entries: number[] = [];
  const indices = new Int32Array(flags.length).fill(NONE);
  for (let entry = 0; entry < flags.length; entry += 1) {
    if ((flags.at(entry) & EMPTY_ENTRY_FLAG) !== 0) continue;
    indices[entry] = entries.length;
    entries.push(entry);
  }
  return { entries, indices };
}

function outlineIndex(
  { calls, responses, partials }: HistoryIndex,
  { flags }: ResidentFacts,
  { entries, indices }: Curated,
): HistoryOutline {
  const at = (entry: number): number => indices[entry] ?? NONE;
  const callEntries = new Int32Array(calls.length);
  const responseEntries = new Int32Array(calls.length);
  for (let row = 0; row < calls.length; row += 1) {
    const response = calls.response.at(row);
    callEntries[row] = at(calls.entry.at(row));
    responseEntries[row] = response === NONE ? NONE : at(responses.entry.at(response));
  }
  const partialEntries = new IntColumn();
  const partialCalls = new IntColumn();
  for (let row = 0; row < partials.length; row += 1) {
    if (partials.call.at(row) === NONE) continue;
    partialEntries.push(at(partials.entry.at(row)));
    partialCalls.push(partials.call.at(row));
  }
  return {
    length: entries.length,
    flags: Uint8Array.from(entries, (entry) => flags.at(entry)),
    callEntries,
    responseEntries,
    partialEntries: partialEntries.toArray(),
    partialCalls: partialCalls.toArray(),
  };
}

function toPlannedCompression(
  { responses }: HistoryIndex,
  { entries, indices }: Curated,
  tokens: Int32Array,
  drops: readonly number[],
  lineOfRow: ReadonlyMap<number, string>,
): PlannedCompression {
  const dropped = new Set(drops);
  const summarized = new IntColumn();
  const tokensAfter = new IntColumn();
  const lines: string[] = [];
  let last = NONE;
  // The map was filled in the order of rows, so the entries are in ascending order.
  for (const [row, line] of lineOfRow) {
    const entry = indices[responses.entry.at(row)] ?? NONE;
    if (dropped.has(entry)) continue;
    summarized.push(entry);
    summarized.push(responses.block.at(row));
    lines.push(line);
    if (entry === last) continue;
    last = entry;
    tokensAfter.push(entry);
    tokensAfter.push(tokens[entry] ?? 0);
  }
  return {
    length: entries.length,
    drops: Int32Array.from(drops),
    summarized: summarized.toArray(),
    lines,
    tokensAfter: tokensAfter.toArray(),
  };
}
