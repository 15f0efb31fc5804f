// Validates the replies on a line. As with the pool, no part of a reply is used before its shape was checked; linear in edits
// and new entries.

import type { DensityBase } from '../../shared/density.js';
import { WorkerPoolError } from '../../shared/errors.js';
import { isRecord } from '../../shared/json.js';
import type {
  DeltaValue,
  HistoryDelta,
  PlannedCompression,
  PlannedPass,
} from '../../shared/resident-protocol.js';
import { findPlanOfBaseProblem, isDuration, isEditList, readEnvelope } from './reply.js';
import type { ReadReply } from './reply.js';

/**
 * Validates the reply to a delta.
 *
 * @throws WorkerPoolError `WORKER_INVALID_RESULT` for an invalid reply; the revived error if the delta was refused.
 */
export function readDeltaReply(
  delta: HistoryDelta,
  countsTokens: boolean,
  reply: unknown,
): ReadReply<DeltaValue> {
  const { value, runMs } = readEnvelope(reply, invalid);
  const staged = delta.steps.reduce(
    (sum, step) => sum + ('knownTokens' in step ? step.knownTokens.length : 0),
    0,
  );
  const { tokens, totalTokens, pass } = value;
  if (!(tokens instanceof Int32Array) || tokens.length !== staged) {
    throw invalid('not one count per entry');
  }
  if (countsTokens && tokens.some((count) => count < 0)) throw invalid('a negative count');
  if (typeof totalTokens !== 'number') throw invalid('no total');
  if (!isBase(value.base, delta.after)) throw invalid('another state');
  if ((pass !== undefined) !== (delta.pass !== undefined))
    throw invalid('a pass missing or unasked');
  if (pass !== undefined) assertPass(delta.after, pass);
  return { value: value as unknown as DeltaValue, runMs };
}

/** Validates the reply to a request for a pass on the state `base`. @throws as `readDeltaReply` does. */
export function readPassReply(base: DensityBase, reply: unknown): ReadReply<PlannedPass> {
  const { value, runMs } = readEnvelope(reply, invalid);
  assertPass(base, value);
  return { value: value as unknown as PlannedPass, runMs };
}

/** Validates the reply to a compression request. @throws as `readDeltaReply` does. */
export function readCompressionReply(reply: unknown): ReadReply<PlannedCompression | null> {
  if (isRecord(reply) && reply.ok === true && reply.value === null && isDuration(reply.runMs)) {
    return { value: null, runMs: reply.runMs };
  }
  const { value, runMs } = readEnvelope(reply, invalid);
  const { length, drops, summarized, lines, tokensAfter } = value;
  if (typeof length !== 'number') throw invalid('no compression');
  const areEdits =
    isEditList(drops, 1, length) &&
    isEditList(summarized, 2, length) &&
    isEditList(tokensAfter, 2, length);
  if (!areEdits) throw invalid('edits that are none of this history');
  const areLines =
    Array.isArray(lines) &&
    lines.length * 2 === (summarized as Int32Array).length &&
    lines.every((line) => typeof line === 'string');
  if (!areLines) throw invalid('not one line per result');
  return { value: value as unknown as PlannedCompression, runMs };
}

function assertPass(base: DensityBase, pass: unknown): void {
  if (!isRecord(pass)) throw invalid('no pass');
  const problem = findPlanOfBaseProblem(base, pass);
  if (problem !== undefined) throw invalid(problem);
  if (!isEditList(pass.tokensAfter, 3, base.length)) throw invalid('tokens of no entry');
  if (!isDuration(pass.runMs)) throw invalid('no duration');
}

function isBase(value: unknown, expected: DensityBase): boolean {
  return (
    isRecord(value) && value.revision === expected.revision && value.length === expected.length
  );
}

function invalid(problem: string): WorkerPoolError {
  return new WorkerPoolError(
    `A resident history answered with ${problem}.`,
    'WORKER_INVALID_RESULT',
  );
}
