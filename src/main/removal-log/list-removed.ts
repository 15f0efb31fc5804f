// Lists the tool results whose originals are in a removal log, without their content.

import { keyOfCall } from '../../shared/call-name.js';
import type { ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { placeholderEnding } from '../../shared/placeholder.js';
import { digestResponse, summaryLine } from '../../shared/summarize/tool-summary.js';
import type { ResultSize } from '../../shared/summarize/tool-summary.js';
import { readRemovals } from './removal-reader.js';
import type { RemovalRecord } from './removal-record.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import { StandIns, weightOf } from './stand-ins.js';

/** A removed result that `restore` can return. */
export interface RemovedResult {
  readonly callId: string;
  readonly toolName: string;
  /** The key parameter of its call: path, command or first short text. Absent if the call is not on record. */
  readonly key?: string;
  readonly isFailed: boolean;
  /** Absent for results without a size, such as numbers. */
  readonly size?: ResultSize;
  /** One line that describes the result, in the format of summaries. */
  readonly line: string;
  readonly sessionId: string;
  /** In milliseconds since the epoch. */
  readonly removedAt: number;
}

/**
 * Lists the results whose originals one session, or with `acrossSessions: true` any session, has recorded in a removal
 * log, in order of removal. If several calls share an id, it lists the one that `restore` returns. Reads the file once
 * and keeps one line per result in memory.
 *
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` if the file cannot be read; TypeError if the scope names no session.
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

class Listing {
  readonly #standIns = new StandIns();
  /** The last sightings by call id, in file order: one map for each weight of their doubt (`weightOf`). */
  readonly #byWeight = [0, 1, 2].map(() => new Map<string, Sighting>());
  /** Key parameters of calls, by session, call id and tool. */
  readonly #keys = new Map<string, string | undefined>();

  add(record: RemovalRecord): void {
    const { entry, sessionId } = record;
    for (const call of entry.blocks.filter(isToolCallBlock)) {
      this.#keys.set(nameOfCall(sessionId, call.id, call.name), keyOfCall(call));
    }
    for (const block of entry.blocks.filter(isToolResponseBlock)) {
      if (block.isComplete === false) continue;
      this.#addSighting(block, record);
      this.#standIns.note(block, record);
    }
  }

  results(): readonly RemovedResult[] {
    // Later entries overwrite earlier ones in the map, so the sightings with the least doubt come last.
    const likeliest = new Map(this.#byWeight.toReversed().flatMap((seen) => [...seen]));
    return [...likeliest.values()]
      .map((sighting) => this.#describe(sighting))
      .sort((a, b) => a.removedAt - b.removedAt);
  }

  #addSighting(block: ToolResponseBlock, record: RemovalRecord): void {
    const doubt = this.#standIns.judge(block, record);
    const seen = doubt === null ? undefined : this.#byWeight[weightOf(doubt)];
    if (seen === undefined) return;
    const { callId, toolName, error } = block;
    const response = { callId, toolName, ...(error !== undefined && { error }) };
    const { sessionId, at: removedAt } = record;
    seen.delete(callId);
    seen.set(callId, { response, digest: digestResponse(block), sessionId, removedAt });
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
