// Gives back what a tool had answered before a pass removed, pruned or compressed it.

import type { IContent, ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { PRUNED_POINTER } from '../../shared/density.js';
import { isExcerpt } from '../../shared/density/index/excerpt.js';
import { placeholderKind } from '../../shared/summarize/placeholder.js';
import { CallIndex } from './call-index.js';
import type { CallSighting } from './call-index.js';
import { readRemovalAt, readRemovals } from './removal-reader.js';
import { checksumOfBlocks } from './removal-record.js';
import type { RemovalRecord } from './removal-record.js';
import { notInTranscript, readFailed } from './transcript-errors.js';

export interface RestoreOptions {
  /** Looks at this session only. @default all that the file holds */
  readonly sessionId?: string;
}

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
 * Restores the original response to a call. Reads the whole file once; `TranscriptWriter.restore` does
 * with the records it needs.
 *
 * One call can be on record several times: its response with the original payload, later what a pass
 * had put in place of it. A recorded entry that equals the replacement of an earlier one is such a
 * stand-in; so is the pruned pointer. What looks like a placeholder or an excerpt counts when nothing else is on record,
 * and what equals a stand-in of another session, which may be the same conversation after a restart, behind that.
 * Among the originals the latest counts: when an id was used for several calls, that is the newest one.
 * The call belongs to the same session and tool.
 *
 * @throws CompressionStrategyError `NOT_IN_TRANSCRIPT` when no original is on record,
 * `TRANSCRIPT_READ_FAILED` when the file cannot be read.
 */
export async function restore(
  path: string,
  callId: string,
  options: RestoreOptions = {},
): Promise<RestoredResponse> {
  const index = new CallIndex();
  const reading = readRemovals(path);
  for await (const { record, location } of reading) {
    if (mentions(record.entry, callId)) index.note(record, location);
  }
  const restored = await restoreFromSightings(path, callId, index.sightings(callId), options);
  if (restored === undefined) throw notInTranscript(path, callId, reading.skippedBytes);
  return restored;
}

/**
 * Restores from sightings that are known, in the order of the file. Reads one record, one more for
 * the call, and one for each stand-in on the way.
 *
 * @returns `undefined` when none of them is an original
 * @throws CompressionStrategyError `TRANSCRIPT_READ_FAILED` when a record is not where it was.
 */
export async function restoreFromSightings(
  path: string,
  callId: string,
  sightings: readonly CallSighting[],
  { sessionId }: RestoreOptions,
): Promise<RestoredResponse | undefined> {
  const relevant = sightings.filter(
    (sighting) => sessionId === undefined || sighting.sessionId === sessionId,
  );
  let doubtful: FoundResponse | undefined;
  let unlikely: FoundResponse | undefined;
  for (const [at, sighting] of [...relevant.entries()].reverse()) {
    if (sighting.holds !== 'response') continue;
    const record = await readSighting(path, sighting);
    const earlier = relevant.slice(0, at);
    if (isStandIn(record, earlier.filter(isOfSession(record.sessionId)))) continue;
    const response = record.entry.blocks.findLast(
      (block) =>
        isToolResponseBlock(block) &&
        block.callId === callId &&
        block.isComplete !== false &&
        block.result !== PRUNED_POINTER,
    ) as ToolResponseBlock;
    const found = { response, record, sighting };
    if (isStandIn(record, earlier)) unlikely ??= found;
    else if (looksLikeStandIn(response)) doubtful ??= found;
    else return describe(path, callId, found, relevant);
  }
  const likelier = doubtful ?? unlikely;
  return likelier && describe(path, callId, likelier, relevant);
}

/** Whether a result may be what a pass or compression has put in place of another one. */
export function looksLikeStandIn(response: ToolResponseBlock): boolean {
  return placeholderKind(response) !== 'none' || isExcerpt(response.result);
}

/** A response that is on record, and where. */
interface FoundResponse {
  readonly response: ToolResponseBlock;
  readonly record: RemovalRecord;
  readonly sighting: CallSighting;
}

async function describe(
  path: string,
  callId: string,
  { response, record, sighting }: FoundResponse,
  sightings: readonly CallSighting[],
): Promise<RestoredResponse> {
  const call = await findCall(path, callId, sighting, sightings);
  return {
    response,
    ...(call !== undefined && { call }),
    sessionId: record.sessionId,
    recordedAt: record.at,
  };
}

function isOfSession(sessionId: string): (sighting: CallSighting) => boolean {
  return (sighting) => sighting.sessionId === sessionId;
}

function isStandIn({ entry }: RemovalRecord, earlier: readonly CallSighting[]): boolean {
  const replacements = earlier.filter(({ replacementCrc }) => replacementCrc !== undefined);
  if (replacements.length === 0) return false;
  const crc = checksumOfBlocks(entry);
  return replacements.some(({ replacementCrc }) => replacementCrc === crc);
}

async function findCall(
  path: string,
  callId: string,
  { sessionId, toolName }: CallSighting,
  sightings: readonly CallSighting[],
): Promise<ToolCallBlock | undefined> {
  const sighting = sightings.findLast(
    (candidate) =>
      candidate.holds === 'call' &&
      candidate.sessionId === sessionId &&
      candidate.toolName === toolName,
  );
  if (sighting === undefined) return undefined;
  const { entry } = await readSighting(path, sighting);
  return entry.blocks
    .filter(isToolCallBlock)
    .findLast(({ id, name }) => id === callId && name === toolName);
}

async function readSighting(path: string, { location, seq }: CallSighting): Promise<RemovalRecord> {
  const record = await readRemovalAt(path, location, seq);
  if (record !== undefined) return record;
  throw readFailed(
    path,
    new Error(`The record ${seq} at offset ${location.offset} was altered or cut off.`),
  );
}

function mentions({ blocks }: IContent, callId: string): boolean {
  return blocks.some(
    (block) =>
      (block.type === 'tool_call' && block.id === callId) ||
      (block.type === 'tool_response' && block.callId === callId),
  );
}
