// Validates replies of workers. A faulty thread may answer anything, so no part of a reply is used before its shape was checked.
// Linear in the number of edits, never in payloads. Does not use `instanceof`: in a test runner's VM context, received arrays are
// from another realm.

import { types } from 'node:util';
import type { DensityBase } from '../../shared/density.js';
import { PlanCursor, ROW_LENGTH } from '../../shared/density/plan/plan.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import { ACTION, ACTION_NAMES } from '../../shared/density/rules/marks.js';
import { isWireError, reviveError, WorkerPoolError } from '../../shared/errors.js';
import { asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CountRequest, TaskRequest, TaskValue } from '../../shared/protocol.js';
import type { DeltaValue, HistoryDelta } from '../../shared/resident-protocol.js';

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
  const by = `A worker answered a task of kind ${JSON.stringify(request.kind)}`;
  return read(by, reply, (value) => findProblem(request, value));
}

/** Validates the reply to a delta. @throws as `readReply` does. */
export function readDeltaReply(
  delta: HistoryDelta,
  countsTokens: boolean,
  reply: unknown,
): ReadReply<DeltaValue> {
  return read('A resident history answered', reply, ({ base, tokens, pass, compression }) => {
    const staged = delta.steps.reduce(
      (sum, step) => sum + ('knownTokens' in step ? step.knownTokens.length : 0),
      0,
    );
    if (!types.isInt32Array(tokens) || tokens.length !== staged) return 'not one count per entry';
    if (countsTokens && tokens.some((count) => count < 0)) return 'a negative count';
    if (!isBase(base, delta.after)) return 'another state';
    if ((pass !== undefined) !== (delta.pass !== undefined)) return 'a pass missing or unasked';
    if ((compression !== undefined) !== (delta.compression !== undefined))
      return 'a compression missing or unasked';
    const problem = pass === undefined ? undefined : findPassProblem(delta.after, pass);
    return problem ?? findCompressionProblem(compression ?? null);
  });
}

/** Validates a reply. @param by who answered what, for the message */
function read<Value>(
  by: string,
  reply: unknown,
  findProblem: (value: JsonRecord) => string | undefined,
): ReadReply<Value> {
  const invalid = (problem: string): Error =>
    new WorkerPoolError(`${by} with ${problem}.`, 'WORKER_INVALID_RESULT');
  if (!isRecord(reply) || !isDuration(reply.runMs)) throw invalid('no reply envelope');
  if (reply.ok === false && isWireError(reply.error)) throw reviveError(reply.error);
  if (reply.ok !== true || !isRecord(reply.value)) throw invalid('neither value nor error');
  const problem = findProblem(reply.value);
  if (problem !== undefined) throw invalid(problem);
  // The only cast of external data: `findProblem` has just validated it.
  return { value: reply.value as unknown as Value, runMs: reply.runMs };
}

function findProblem(request: TaskRequest, value: JsonRecord): string | undefined {
  switch (request.kind) {
    case 'optimize':
      return findPlanProblem(request.history.length, value);
    case 'count':
      return findCountProblem(request, value);
    case 'open':
    case 'probe':
      return Number.isInteger(value.threadId) ? undefined : 'no thread id';
  }
}

function findPassProblem(base: DensityBase, pass: unknown): string | undefined {
  if (!isRecord(pass)) return 'no pass';
  if (!isBase(pass.base, base)) return 'a plan for another base';
  const problem = findPlanProblem(base.length, pass);
  if (problem !== undefined) return problem;
  if (!isEditList(pass.tokensAfter, 3, base.length)) return 'tokens of no entry';
  return isDuration(pass.runMs) ? undefined : 'no duration';
}

function findCompressionProblem(compression: unknown): string | undefined {
  if (compression === null) return undefined;
  const { length, drops, summarized, lines, tokensAfter } = asRecord(compression) ?? {};
  if (typeof length !== 'number') return 'no compression';
  const areEdits =
    isEditList(drops, 1, length) &&
    isEditList(summarized, 2, length) &&
    isEditList(tokensAfter, 2, length);
  if (!areEdits) return 'edits that are none of this history';
  const areLines =
    Array.isArray(lines) &&
    lines.length * 2 === (summarized as Int32Array).length &&
    lines.every((line) => typeof line === 'string');
  return areLines ? undefined : 'not one line per result';
}

/** Returns what is wrong with a plan for a history of this length, or `undefined`. */
function findPlanProblem(length: number, { plan, texts = [] }: JsonRecord): string | undefined {
  if (!types.isInt32Array(plan)) return 'no plan';
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

function findCountProblem(
  { contents }: CountRequest,
  { tokens, blocks, results }: JsonRecord,
): string | undefined {
  const { length } = contents;
  if (!types.isInt32Array(tokens) || tokens.length !== length) return 'not one count per entry';
  const count = contents.reduce((sum, entry) => sum + entry.blocks.length, 0);
  for (const list of [blocks, results]) {
    if (!types.isInt32Array(list) || list.length !== count) return 'not one count per block';
  }
  return tokens.every((each) => each >= 0) ? undefined : 'a negative count';
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

function isBase(value: unknown, expected: DensityBase): boolean {
  return (
    isRecord(value) && value.revision === expected.revision && value.length === expected.length
  );
}
