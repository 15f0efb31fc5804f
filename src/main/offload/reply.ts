// Validates replies of workers. A faulty thread may answer anything, so no part of a reply is used before its shape was checked.
// Linear in the number of edits, never in payloads. Does not use `instanceof`: in a test runner's VM context, received arrays are
// from another realm.

import { types } from 'node:util';
import type { DensityBase } from '../../shared/density.js';
import { PlanCursor, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import { ACTION, ACTION_NAMES } from '../../shared/density/rules/marks.js';
import { isWireError, reviveError, WorkerPoolError } from '../../shared/errors.js';
import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CountPackedRequest, TaskRequest, TaskValue } from '../../shared/protocol.js';
import type {
  DeltaValue,
  HistoryDelta,
  PlannedCompression,
  PlannedPass,
} from '../../shared/resident-protocol.js';

/** The value of a successful reply. */
export interface ReadReply<Value> {
  readonly value: Value;
  /** Run time in the worker, in milliseconds. */
  readonly runMs: number;
}

/**
 * Validates the reply to `request` and returns its value.
 *
 * @throws WorkerPoolError `WORKER_INVALID_RESULT` for an invalid reply; the revived error if the task itself failed, which is
 *   never a `WorkerPoolError`.
 */
export function readReply<Request extends TaskRequest>(
  request: Request,
  reply: unknown,
): ReadReply<TaskValue<Request>> {
  const { value, runMs } = readEnvelope(reply, (problem) => invalid(request, problem));
  const problem = findProblem(request, value);
  if (problem !== undefined) throw invalid(request, problem);
  // The only cast of external data: `findProblem` has just validated it.
  return { value: value as unknown as TaskValue<Request>, runMs };
}

/**
 * Validates the envelope of a reply of any kind.
 *
 * @throws the revived error if the reply reports a failure; the error that `invalid` creates if the envelope is invalid.
 */
function readEnvelope(reply: unknown, invalid: (problem: string) => Error): ReadReply<JsonRecord> {
  if (!isRecord(reply) || !isDuration(reply.runMs)) throw invalid('no reply envelope');
  if (reply.ok === false && isWireError(reply.error)) throw reviveError(reply.error);
  if (reply.ok !== true || !isRecord(reply.value)) throw invalid('neither value nor error');
  return { value: reply.value, runMs: reply.runMs };
}

function findProblem(request: TaskRequest, value: JsonRecord): string | undefined {
  switch (request.kind) {
    case 'optimize':
      return findPlanOfBaseProblem(request.base, value);
    case 'count':
      return findCountProblem(request.contents.length, value);
    case 'count-packed':
      return findPackedProblem(request, value);
    case 'open':
    case 'probe':
      return Number.isInteger(value.threadId) ? undefined : 'no thread id';
  }
}

/** Returns what is wrong with a plan for `expected`, or `undefined`. */
function findPlanOfBaseProblem(
  expected: DensityBase,
  { base, plan, texts = [] }: JsonRecord,
): string | undefined {
  if (!isRecord(base) || !types.isInt32Array(plan)) return 'no plan';
  if (!isBase(base, expected)) return 'a plan for another base';
  const { length } = expected;
  if (!Array.isArray(texts) || !texts.every((text) => typeof text === 'string')) return 'no texts';
  return isPlan(plan, length, texts.length) ? undefined : 'edits that are none of this history';
}

/** Whether all rows have a valid entry, block, action and rule, and ascend. */
function isPlan(plan: Int32Array, length: number, texts: number): boolean {
  if (!isEditList(plan, ROW_LENGTH, length)) return false;
  let [lastEntry, lastBlock] = [-1, -1];
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    const { entry, block, action, rule, start, end } = row;
    if (block < 0 || action <= ACTION.none || action >= ACTION_NAMES.length) return false;
    if (rule < 0 || rule >= DENSITY_RULES.length) return false;
    if (action === ACTION.cut && (start < 0 || end < start)) return false;
    if (action === ACTION.shrink && (start < 0 || start >= texts)) return false;
    if (entry < lastEntry || (entry === lastEntry && block < lastBlock)) return false;
    [lastEntry, lastBlock] = [entry, block];
  }
  return true;
}

function findCountProblem(entries: number, { tokens }: JsonRecord): string | undefined {
  if (!types.isInt32Array(tokens) || tokens.length !== entries) return 'not one count per entry';
  return tokens.every((count) => count >= 0) ? undefined : 'a negative count';
}

function findPackedProblem({ packed }: CountPackedRequest, value: JsonRecord): string | undefined {
  const { blocks } = value;
  if (!types.isInt32Array(blocks) || blocks.length !== 2 * packed.blocks) {
    return 'not two counts per block';
  }
  return findCountProblem(packed.entries, value);
}

/** Whether a value consists of rows of `width` numbers that start with an entry index below `length`. */
function isEditList(value: unknown, width: number, length: number): boolean {
  if (!types.isInt32Array(value) || value.length % width !== 0) return false;
  for (let at = 0; at < value.length; at += width) {
    const entry = value[at] ?? -1;
    if (entry < 0 || entry >= length) return false;
  }
  return true;
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

function invalid(request: TaskRequest, problem: string): WorkerPoolError {
  return new WorkerPoolError(
    `A worker answered a task of kind ${JSON.stringify(request.kind)} with ${problem}.`,
    'WORKER_INVALID_RESULT',
  );
}

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
  const { value, runMs } = readEnvelope(reply, invalidResidentReply);
  const staged = delta.steps.reduce(
    (sum, step) => sum + ('knownTokens' in step ? step.knownTokens.length : 0),
    0,
  );
  const { tokens, totalTokens, pass } = value;
  if (!types.isInt32Array(tokens) || tokens.length !== staged) {
    throw invalidResidentReply('not one count per entry');
  }
  if (countsTokens && tokens.some((count) => count < 0))
    throw invalidResidentReply('a negative count');
  if (typeof totalTokens !== 'number') throw invalidResidentReply('no total');
  if (!isBase(value.base, delta.after)) throw invalidResidentReply('another state');
  if ((pass !== undefined) !== (delta.pass !== undefined))
    throw invalidResidentReply('a pass missing or unasked');
  if (pass !== undefined) assertPass(delta.after, pass);
  return { value: value as unknown as DeltaValue, runMs };
}

/** Validates the reply to a request for a pass on the state `base`. @throws as `readDeltaReply` does. */
export function readPassReply(base: DensityBase, reply: unknown): ReadReply<PlannedPass> {
  const { value, runMs } = readEnvelope(reply, invalidResidentReply);
  assertPass(base, value);
  return { value: value as unknown as PlannedPass, runMs };
}

/** Validates the reply to a compression request. @throws as `readDeltaReply` does. */
export function readCompressionReply(reply: unknown): ReadReply<PlannedCompression | null> {
  if (isRecord(reply) && reply.ok === true && reply.value === null && isDuration(reply.runMs)) {
    return { value: null, runMs: reply.runMs };
  }
  const { value, runMs } = readEnvelope(reply, invalidResidentReply);
  const { length, drops, summarized, lines, tokensAfter } = value;
  if (typeof length !== 'number') throw invalidResidentReply('no compression');
  const areEdits =
    isEditList(drops, 1, length) &&
    isEditList(summarized, 2, length) &&
    isEditList(tokensAfter, 2, length);
  if (!areEdits) throw invalidResidentReply('edits that are none of this history');
  const areLines =
    Array.isArray(lines) &&
    lines.length * 2 === (summarized as Int32Array).length &&
    lines.every((line) => typeof line === 'string');
  if (!areLines) throw invalidResidentReply('not one line per result');
  return { value: value as unknown as PlannedCompression, runMs };
}

function assertPass(base: DensityBase, pass: unknown): void {
  if (!isRecord(pass)) throw invalidResidentReply('no pass');
  const problem = findPlanOfBaseProblem(base, pass);
  if (problem !== undefined) throw invalidResidentReply(problem);
  if (!isEditList(pass.tokensAfter, 3, base.length))
    throw invalidResidentReply('tokens of no entry');
  if (!isDuration(pass.runMs)) throw invalidResidentReply('no duration');
}

function isBase(value: unknown, expected: DensityBase): boolean {
  return (
    isRecord(value) && value.revision === expected.revision && value.length === expected.length
  );
}

function invalidResidentReply(problem: string): WorkerPoolError {
  return new WorkerPoolError(
    `A resident history answered with ${problem}.`,
    'WORKER_INVALID_RESULT',
  );
}
