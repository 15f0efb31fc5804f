// A second implementation of the working set, written from the words of its rules. It scans the whole history for every
// question, shares no code with src/shared/density/, and is not meant to be fast.

import { resolve } from 'node:path';

import type {
  ContentBlock,
  IContent,
  ToolCallBlock,
  ToolResponseBlock,
} from '../../src/shared/content.js';
import type { WorkingSetRules } from '../../src/shared/density/rules/working-set-rules.js';
import { placeholderKind } from '../../src/shared/placeholder.js';
import { estimateResultTokens } from '../../src/shared/tokens/estimate.js';
import { naiveUse } from './naive-use.js';
import type { NaiveUse } from './naive-use.js';
import { pairNaively } from './naive-pairs.js';

/** What becomes of a result. */
type NaiveFate = 'pointer' | 'excerpt';

interface NaiveState {
  readonly fate: NaiveFate;
  /** Whether it is a reason for an edit. */
  readonly isDue: boolean;
}

/** What the phases before took away. */
export interface NaivelyTaken {
  readonly blocks: readonly ContentBlock[];
  /** Responses whose results become pointers. */
  readonly results: readonly ContentBlock[];
}

/** What stands for a placeholder and for a call, in tokens. */
const PLACEHOLDER = 16;
const CALL = 100;
const SMALL = 40;
const LONG = 150;
const COMPARED_READS = 64;
/** What a token costs from the cache, and to be written to it. */
const [READ, WRITE] = [0.1, 1.25];

interface Call {
  readonly block: ToolCallBlock;
  readonly entry: number;
  readonly response: ToolResponseBlock | undefined;
  /** Whether the model said anything after it came. */
  readonly isSent: boolean;
  readonly age: number;
  readonly kind: NaiveUse['kind'];
  readonly paths: readonly string[];
  readonly lines: readonly [first: number, last: number] | undefined;
  /** Alike in calls with the same tool and parameters, of those that are told apart by them. */
  readonly text: string | undefined;
}

/** Returns which results leave a working set, and what becomes of them. */
export function naiveOutsideWorkingSet(
  history: readonly IContent[],
  rules: WorkingSetRules,
  root: string,
  taken: NaivelyTaken,
): ReadonlyMap<ToolResponseBlock, NaiveFate> {
  const calls = callsOf(history, root);
  const states = new Map<ToolResponseBlock, NaiveState>();
  for (const call of calls) {
    const { response } = call;
    if (response === undefined || isTaken(response, taken)) continue;
    const state = stateOf(call, calls, rules);
    if (state !== undefined) states.set(response, state);
  }
  const responses = history.flatMap((content, entry) =>
    content.speaker !== 'tool'
      ? []
      : content.blocks.flatMap((block) =>
          block.type === 'tool_response' && block.isComplete !== false ? [{ block, entry }] : [],
        ),
  );
  const live = responses
    .filter(({ block }) => !isTaken(block, taken) && !isGone(block))
    .reduce((sum, { block }) => sum + estimateResultTokens(block), 0);
  if (live < rules.freeTokens) return new Map();

  const answer = history.findLastIndex(({ speaker }) => speaker === 'ai');
  const gains = responses.map(({ block, entry }, at) => {
    if (states.get(block)?.isDue !== true) return -1;
    const given = responses
      .slice(at)
      .filter((other) => states.get(other.block)?.isDue === true)
      .map((other) => estimateResultTokens(other.block))
      .reduce(
        (sum, tokens) => sum + Math.max(0, tokens - PLACEHOLDER - Math.min(100, tokens / 10)),
        0,
      );
    const calledBehind = calls.filter(
      (call) => call.entry > entry && call.entry < answer && !taken.blocks.includes(call.block),
    ).length;
    const left = responses
      .slice(at)
      .filter((other) => other.entry < answer)
      .reduce((sum, other) => sum + tokensLeft(other.block, states, taken), 0);
    const price = ((WRITE - READ) * (left + CALL * calledBehind)) / (READ * rules.paybackCalls);
    return given === 0 || Number.isNaN(price) ? -1 : given - price;
  });
  const most = Math.max(...gains);
  // Sums of the same numbers in another order differ in their last digits.
  const from = gains.findIndex((gain) => gain >= 0 && gain >= most - 1e-6);
  const leaving = from === -1 ? [] : responses.slice(from).map(({ block }) => block);
  return new Map(
    [...states].flatMap(([block, { fate }]) => (leaving.includes(block) ? [[block, fate]] : [])),
  );
}

function callsOf(history: readonly IContent[], root: string): readonly Call[] {
  const answers = history.flatMap(({ speaker }, entry) => (speaker === 'ai' ? [entry] : []));
  return pairNaively(history).map(({ call, callEntry, responseEntry, responseBlock }) => {
    const response = history[responseEntry]?.blocks[responseBlock];
    const { kind, files, lines, command } = naiveUse(call.name, call.parameters);
    const isTold = kind === 'write' || lines !== undefined;
    return {
      block: call,
      entry: callEntry,
      response: response?.type === 'tool_response' ? response : undefined,
      isSent: answers.some((entry) => entry > responseEntry),
      age: answers.filter((entry) => entry > callEntry).length,
      kind,
      paths: files.map((path) => resolve(root, path)),
      lines,
      text: isTold ? undefined : `${call.name} ${JSON.stringify(command ?? call.parameters)}`,
    };
  });
}

/** `undefined` for what stays. */
function stateOf(
  call: Call,
  calls: readonly Call[],
  rules: WorkingSetRules,
): NaiveState | undefined {
  const { response, isSent, age, kind, text, paths } = call;
  if (response === undefined || isGone(response) || isExcerpt(response)) return undefined;
  if (!isSent || estimateResultTokens(response) < SMALL) return undefined;

  const later = calls.slice(calls.indexOf(call) + 1);
  const isRepeated =
    text !== undefined && later.some((other) => other.text === text && shows(other));
  const reads = later
    .filter((other) => isRange(other) && other.response !== undefined)
    .filter((other) => other.paths[0] === paths[0])
    .slice(0, COMPARED_READS);
  const isReadAgain = isRange(call) && reads.some((other) => covers(other, call) && shows(other));
  if (isRepeated || isReadAgain) return { fate: 'pointer', isDue: true };

  const time =
    { read: rules.readCalls, search: rules.searchCalls, command: rules.outputCalls }[
      kind as string
    ] ?? rules.otherCalls;
  if (!(age > time) && !(age > time * rules.earlyShare)) return undefined;
  const isLong = estimateResultTokens({ result: response.result }) >= LONG;
  return { fate: isLong ? 'excerpt' : 'pointer', isDue: age > time || rules.paybackCalls === Infinity };
}

function isRange({ kind, lines, paths }: Call): boolean {
  return kind === 'read' && lines !== undefined && paths.length === 1;
}

function covers({ lines: outer }: Call, { lines: inner }: Call): boolean {
  return outer !== undefined && inner !== undefined && outer[0] <= inner[0] && outer[1] >= inner[1];
}

/** Whether a call has a result that one can still look at. */
function shows({ response }: Call): boolean {
  return (
    response !== undefined &&
    !isGone(response) &&
    !isExcerpt(response) &&
    response.error === undefined
  );
}

function isGone(response: ToolResponseBlock): boolean {
  return placeholderKind(response) !== 'none';
}

function isTaken(response: ToolResponseBlock, { blocks, results }: NaivelyTaken): boolean {
  return blocks.includes(response) || results.includes(response);
}

/** The tokens of a result once all that is stale has left. */
function tokensLeft(
  block: ToolResponseBlock,
  states: ReadonlyMap<ToolResponseBlock, NaiveState>,
  taken: NaivelyTaken,
): number {
  if (taken.blocks.includes(block)) return 0;
  const isStale = states.has(block) || isTaken(block, taken) || isGone(block) || isExcerpt(block);
  return isStale ? PLACEHOLDER : estimateResultTokens(block);
}

function isExcerpt({ result }: ToolResponseBlock): boolean {
  return (
    typeof result === 'string' && /^\[[^]*\]\nIt named: /.test(result) && result.length <= 1_200
  );
}
