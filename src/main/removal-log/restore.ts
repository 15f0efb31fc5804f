// Gives back what a tool had answered before a pass removed, pruned or compressed it.

import type { ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { PRUNED_POINTER } from '../../shared/density.js';
import { CallIndex } from './call-index.js';
import type { CallSighting } from './call-index.js';
import { readRemovalAt, RemovalReading } from './removal-reader.js';
import type { RemovalSource } from './removal-reader.js';
import type { RemovalRecord } from './removal-record.js';
import { assertSessionScope, isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import { weightOf } from './stand-ins.js';
import type { Doubt } from './stand-ins.js';
import { notInRemovalLog, readFailed } from './removal-log-errors.js';

/** A tool's answer as it was. */
export interface RestoredResponse {
  readonly response: ToolResponseBlock;
  /** The call that it answers; absent when that was never recorded, as it is in the history still. */
  readonly call?: ToolCallBlock;
  readonly sessionId: string;
  /** When it was recorded, in milliseconds since the epoch. */
  readonly recordedAt: number;
}

/**
 * Restores the original response to a call, from what one session has recorded in a file or, with
 * `acrossSessions: true`, any. Reads the whole file once; `RemovalLog.restore` does with the records it needs.
 *
 * One call can be on record several times: its response with the original payload, later what a pass
 * had put in place of it. A recorded entry that equals the replacement of an earlier one is such a
 * stand-in; so is the pruned pointer. What looks like a placeholder or an excerpt counts when nothing else is on record,
 * and what equals a stand-in of another session, which may be the same conversation after a restart, behind that.
 * Among the originals the latest counts: when an id was used for several calls, that is the newest one.
 * The call belongs to the same session and tool.
 *
 * @throws CtxfoldError `NOT_IN_REMOVAL_LOG` when no original is on record,
 * `REMOVAL_LOG_READ_FAILED` when the file cannot be read; TypeError when no session is named.
 */
export async function restore(
  path: string,
  callId: string,
  scope: SessionScope,
): Promise<RestoredResponse> {
  assertSessionScope(scope);
  const index = new CallIndex();
  const source = { path };
  const reading = new RemovalReading(source);
  for await (const located of reading) {
    if (isInScope(scope, located.record.sessionId)) index.note(located, callId);
  }
  const restored = await restoreFromSightings(source, callId, index.sightings(callId), scope);
  if (restored === undefined) throw notInRemovalLog(path, callId, reading.skippedBytes);
  return restored;
}

/**
 * Restores from sightings that are known, the last one first. Reads one record, and one more for the call.
 *
 * @returns `undefined` when none of them is an original
 * @throws CtxfoldError `REMOVAL_LOG_READ_FAILED` when a record is not where it was.
 */
export async function restoreFromSightings(
  source: RemovalSource,
  callId: string,
  sightings: Iterable<CallSighting>,
  scope: SessionScope,
): Promise<RestoredResponse | undefined> {
  const relevant = Array.from(sightings).filter(({ sessionId }) => isInScope(scope, sessionId));
  let best: CallSighting | undefined;
  let leastWeight = Infinity;
  for (const sighting of relevant) {
    if (sighting.doubt === null) continue;
    const weight = weightWithin(scope, sighting.doubt);
    if (weight >= leastWeight) continue;
    leastWeight = weight;
    best = sighting;
  }
  if (best === undefined) return undefined;
  const record = await readSighting(source, best);
  const response = record.entry.blocks.findLast(
    (block): block is ToolResponseBlock =>
      isToolResponseBlock(block) &&
      block.callId === callId &&
      block.isComplete !== false &&
      block.result !== PRUNED_POINTER,
  );
  if (response === undefined) throw notThere(source, best);
  const call = await findCall(source, callId, best, relevant);
  return {
    response,
    ...(call !== undefined && { call }),
    sessionId: record.sessionId,
    recordedAt: record.at,
  };
}

/** What other sessions have done is no matter to who looks at one alone. */
function weightWithin({ acrossSessions }: SessionScope, doubt: Doubt): number {
  return weightOf(acrossSessions === true ? doubt : { ...doubt, standsInElsewhere: false });
}

async function findCall(
  source: RemovalSource,
  callId: string,
  { sessionId, toolName }: CallSighting,
  sightings: readonly CallSighting[],
): Promise<ToolCallBlock | undefined> {
  const sighting = sightings.find(
    (candidate) =>
      candidate.doubt === null &&
      candidate.sessionId === sessionId &&
      candidate.toolName === toolName,
  );
  if (sighting === undefined) return undefined;
  const { entry } = await readSighting(source, sighting);
  return entry.blocks
    .filter(isToolCallBlock)
    .findLast(({ id, name }) => id === callId && name === toolName);
}

async function readSighting(source: RemovalSource, sighting: CallSighting): Promise<RemovalRecord> {
  const record = await readRemovalAt(source, sighting.place);
  if (record?.sessionId === sighting.sessionId) return record;
  throw notThere(source, sighting);
}

function notThere({ path }: RemovalSource, { place }: CallSighting): Error {
  return readFailed(
    path,
    new Error(`The record at offset ${place.offset} was altered or cut off.`),
  );
}
