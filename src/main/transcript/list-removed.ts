// Tells which results of tools a transcript holds originals of, without the originals.

import type { ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { PRUNED_POINTER } from '../../shared/density.js';
import { placeholderEnding } from '../../shared/summarize/placeholder.js';
import { digestResponse, keyOfCall, summaryLine } from '../../shared/summarize/tool-summary.js';
import type { ResultSize } from '../../shared/summarize/tool-summary.js';
import { readRemovals } from './removal-reader.js';
import { checksumOfBlocks } from './removal-record.js';
import type { RemovalRecord } from './removal-record.js';
import { looksLikeStandIn } from './restore.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';

/** A result that was taken away and that `restore` gives back. */
export interface RemovedResult {
  readonly callId: string;
  readonly toolName: string;
  /** What of its call tells most: path, command or first short text; absent when that is not on record. */
  readonly key?: string;
  readonly isFailed: boolean;
  /** Absent for what has none, such as a number. */
  readonly size?: ResultSize;
  /** All of that in one line, as summaries have it. */
  readonly line: string;
  readonly sessionId: string;
  /** In milliseconds since the epoch. */
  readonly removedAt: number;
}

/**
 * Lists the results whose originals one session has recorded in a transcript, or any with `acrossSessions: true`, in
 * the order in which they went. Of several calls with one id it has the one that `restore` gives. Reads the file once;
 * keeps a line of each result.
 *
 * @throws CompressionStrategyError `TRANSCRIPT_READ_FAILED` when the file cannot be read; TypeError when no session is
 * named.
 */
export async function listRemoved(
  path: string,
  scope: SessionScope,
): Promise<readonly RemovedResult[]> {
  assertSessionScope(scope);
  const listing = new Listing();
  for await (const { record } of readRemovals(path)) {
    if (isInScope(scope, record.sessionId)) listing.add(record);
  }
  return listing.results();
}

/** A response that may be an original, without its payload. */
interface Sighting {
  readonly response: Pick<ToolResponseBlock, 'callId' | 'toolName' | 'error'>;
  readonly digest: ReturnType<typeof digestResponse>;
  readonly sessionId: string;
  readonly removedAt: number;
}

/** What has taken the place of an entry that answers a call. */
interface StandIn {
  readonly sessionId: string;
  readonly crc: number;
}

class Listing {
  /** By call, what is an original; the one that was seen last comes last. */
  readonly #originals = new Map<string, Sighting>();
  /** The same for what is likely none, and counts when there is nothing else; and for what is still less likely one. */
  readonly #doubtful = new Map<string, Sighting>();
  readonly #unlikely = new Map<string, Sighting>();
  readonly #standIns = new Map<string, StandIn[]>();
  /** By session, call and tool, the key parameter. */
  readonly #keys = new Map<string, string | undefined>();

  add(record: RemovalRecord): void {
    const { entry, sessionId, replacementCrc: crc } = record;
    for (const call of entry.blocks.filter(isToolCallBlock)) {
      this.#keys.set(nameOfCall(sessionId, call.id, call.name), keyOfCall(call));
    }
    for (const block of entry.blocks.filter(isToolResponseBlock)) {
      if (block.isComplete === false) continue;
      if (block.result !== PRUNED_POINTER) this.#see(block, record);
      if (crc === undefined) continue;
      const known = this.#standIns.get(block.callId);
      if (known === undefined) this.#standIns.set(block.callId, [{ sessionId, crc }]);
      else known.push({ sessionId, crc });
    }
  }

  results(): readonly RemovedResult[] {
    // What stands later takes the place of what stands before.
    const likeliest = new Map([...this.#unlikely, ...this.#doubtful, ...this.#originals]);
    return [...likeliest.values()]
      .map((sighting) => this.#describe(sighting))
      .sort((a, b) => a.removedAt - b.removedAt);
  }

  /** Judges as `restoreFromSightings` does. */
  #see(block: ToolResponseBlock, { entry, sessionId, at }: RemovalRecord): void {
    const { callId, toolName, error } = block;
    const standIns = this.#standIns.get(callId) ?? [];
    const crc = standIns.length === 0 ? undefined : checksumOfBlocks(entry);
    const same = standIns.filter((standIn) => standIn.crc === crc);
    if (same.some((standIn) => standIn.sessionId === sessionId)) return;
    const likely = looksLikeStandIn(block) ? this.#doubtful : this.#originals;
    const seen = same.length > 0 ? this.#unlikely : likely;
    const response = { callId, toolName, ...(error !== undefined && { error }) };
    seen.delete(callId);
    seen.set(callId, { response, digest: digestResponse(block), sessionId, removedAt: at });
  }

  #describe({ response, digest, sessionId, removedAt }: Sighting): RemovedResult {
    const { callId, toolName, error } = response;
    const name = nameOfCall(sessionId, callId, toolName);
    const key = this.#keys.get(name);
    const call = this.#keys.has(name) ? { key } : undefined;
    return {
      callId,
      toolName,
      ...(key !== undefined && { key }),
      isFailed: Boolean(error),
      ...(!digest.isSummary && digest.size !== undefined && { size: digest.size }),
      line: summaryLine(digest, call, placeholderEnding(callId, 'pointer')),
      sessionId,
      removedAt,
    };
  }
}

function nameOfCall(sessionId: string, callId: string, toolName: string): string {
  return JSON.stringify([sessionId, callId, toolName]);
}
