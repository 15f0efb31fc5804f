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

/** What leaves a working set. */
export interface NaiveOutside {
  readonly results: ReadonlyMap<ToolResponseBlock, NaiveFate>;
  /** Calls and responses that leave as a whole. */
  readonly forgotten: readonly ContentBlock[];
  /** Responses of all of them that no other phase prunes. */
  readonly count: number;
}

/** What the phases before took away. */
export interface NaivelyTaken {
  readonly blocks: readonly ContentBlock[];
  /** Responses whose results become pointers. */
  readonly results: readonly ContentBlock[];
}

/** Characters of the head and the tail of an excerpt, and of a text that is short enough. */
const HEAD = 160;
const TAIL = 320;
const SHORT = 600;
/** What stands for a placeholder, for an excerpt and for a call, in tokens. */
const PLACEHOLDER = 16;
const EXCERPT = 150;
const CALL = 100;
const COMPARED_READS = 64;

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

/** Returns what leaves a working set, and what becomes of it. */
export function naiveOutsideWorkingSet(
  history: readonly IContent[],
  rules: WorkingSetRules,
  root: string,
  taken: NaivelyTaken,
): NaiveOutside {
  const calls = callsOf(history, root);
  const stale = new Map<ToolResponseBlock, NaiveFate>();
  for (const call of calls) {
    const { response } = call;
    if (response === undefined || isTaken(response, taken)) continue;
    const fate = fateOf(call, calls, rules);
    if (fate !== 'stays') stale.set(response, fate);
  }
  const responses = history.flatMap((content, entry) =>
    content.speaker !== 'tool'
      ? []
      : content.blocks.flatMap((block) =>
          block.type === 'tool_response' && block.isComplete !== false ? [{ block, entry }] : [],
        ),
  );
  const gain = (list: readonly { readonly block: ToolResponseBlock }[]): number =>
    list.reduce((sum, { block }) => {
      const fate = stale.get(block);
      const tokens = estimateResultTokens(block);
      if (fate === undefined || tokens < rules.minCausingTokens) return sum;
      return sum + Math.max(0, tokens - tokensOf(fate));
    }, 0);

  const kept = responses
    .filter(({ block }) => !stale.has(block) && !isTaken(block, taken) && !isGone(block))
    .reduce((sum, { block }) => sum + estimateResultTokens(block), 0);
  const all = gain(responses);
  if (all >= rules.minReclaimTokens && all >= rules.minReclaimShare * kept) {
    const isGoing = ({ response }: Call): boolean =>
      response !== undefined &&
      (stale.get(response) === 'pointer' || taken.results.includes(response));
    const forgotten = calls.filter(
      (call) =>
        !taken.blocks.includes(call.block) &&
        isLongAgo(call, rules) &&
        (isGoing(call) || isSpent(call, rules)),
    );
    return {
      results: stale,
      forgotten: forgotten.flatMap(({ block, response }) =>
        response === undefined ? [block] : [block, response],
      ),
      count: stale.size + forgotten.filter((call) => !isGoing(call)).length,
    };
  }

  const near = responses.findIndex(({ block, entry }, at) => {
    const callsBehind = calls.filter(
      (call) => call.entry > entry && !taken.blocks.includes(call.block),
    ).length;
    const behind = responses
      .slice(at + 1)
      .reduce((sum, later) => sum + tokensLeft(later.block, stale, taken), CALL * callsBehind);
    const from = behind + tokensLeft(block, stale, taken);
    const gained = gain(responses.slice(at));
    return (
      stale.has(block) &&
      behind <= rules.tailTokens &&
      gained >= rules.minTailReclaim &&
      gained >= rules.minTailShare * from
    );
  });
  const tail = near === -1 ? [] : responses.slice(near).map(({ block }) => block);
  const results = new Map([...stale].filter(([block]) => tail.includes(block)));
  return { results, forgotten: [], count: results.size };
}

/** Whether a call is so old that it may leave, and keeps nothing by it. */
function isLongAgo({ age, kind, response }: Call, rules: WorkingSetRules): boolean {
  const { callLease, touchLease, nameLease, excerptLease, maxRelaxation } = rules;
  return (
    response !== undefined &&
    (kind === 'read' || kind === 'search' || kind === 'command') &&
    age > callLease &&
    age > times(touchLease, maxRelaxation) &&
    age > times(nameLease, maxRelaxation) &&
    age > excerptLease
  );
}

/** Whether nothing is left of a result, or it is an output that says little. */
function isSpent({ kind, response, isSent }: Call, rules: WorkingSetRules): boolean {
  if (response === undefined) return false;
  if (isGone(response)) return true;
  return kind !== 'read' && isSent && estimateResultTokens(response) < rules.minTokens;
}

/** The text with its middle left out. */
export function naiveExcerpt(text: string): string {
  if (text.length <= SHORT) return text;
  // What stands in front of the last line break among the first characters, or all of those.
  let headEnd = HEAD;
  while (headEnd > 0 && text[headEnd] !== '\n') headEnd -= 1;
  if (headEnd === 0) headEnd = HEAD + (cutsPair(text, HEAD) ? 1 : 0);
  // What stands behind the first line break among the last characters, or all of those.
  let tailStart = text.length - TAIL;
  while (tailStart < text.length && text[tailStart] !== '\n') tailStart += 1;
  if (tailStart >= text.length - 1) {
    tailStart = text.length - TAIL + (cutsPair(text, text.length - TAIL) ? 1 : 0);
  } else {
    tailStart += 1;
  }
  const middle = text.slice(headEnd, tailStart);
  const breaks = middle.split('\n').length - 1;
  const amount = breaks > 1 ? `${breaks} lines` : `${middle.length} characters`;
  return [
    text.slice(0, headEnd),
    `[… ${amount} left out of this old output …]`,
    text.slice(tailStart),
  ].join('\n');
}

function cutsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
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

function fateOf(call: Call, calls: readonly Call[], rules: WorkingSetRules): NaiveFate | 'stays' {
  const { response, isSent, age, kind, text, paths } = call;
  if (response === undefined || isGone(response)) return 'stays';
  const tokens = estimateResultTokens(response);
  if (age === 0 || !isSent || tokens < rules.minTokens) return 'stays';

  const later = calls.slice(calls.indexOf(call) + 1);
  if (text !== undefined && later.some((other) => other.text === text && shows(other))) {
    return 'pointer';
  }
  const relaxation = relaxationOf(calls, rules);
  const sharesFile = (other: Call): boolean => other.paths.some((path) => paths.includes(path));
  const ofFile = later.filter(sharesFile);
  const reads = ofFile
    .filter((other) => isRange(other) && other.response !== undefined)
    .slice(0, COMPARED_READS);
  if (isRange(call) && reads.some((other) => covers(other, call) && shows(other))) return 'pointer';

  const isOutput = kind === 'search' || kind === 'command';
  const lease = kind === 'search' ? rules.searchLease : rules.outputLease;
  if (age <= (isOutput || kind === 'write' ? lease : times(rules.readLease, relaxation)))
    return 'stays';
  if (isOutput) {
    if (age > rules.excerptLease) return 'pointer';
    const isLong = typeof response.result === 'string' && response.result.length > SHORT;
    return isLong && tokens >= rules.excerptTokens ? 'excerpt' : 'stays';
  }
  if (kind !== 'read') return 'pointer';
  const touched = ofFile.filter((other) => other.age <= times(rules.touchLease, relaxation));
  if (!isRange(call)) return touched.length > 0 ? 'stays' : 'pointer';
  const named = ofFile.filter((other) => other.age <= times(rules.nameLease, relaxation));
  const isInUse =
    touched.some((other) => other.kind === 'write') ||
    named.some((other) => !isRange(other)) ||
    touched.some((other) => reads.includes(other) && overlaps(other, call));
  return isInUse ? 'stays' : 'pointer';
}

/** The fewer tokens there are in reads, the longer they stay. */
function relaxationOf(calls: readonly Call[], rules: WorkingSetRules): number {
  const live = calls
    .flatMap(({ kind, response }) => (kind === 'read' && response !== undefined ? [response] : []))
    .filter((response) => !isGone(response))
    .reduce((sum, response) => sum + estimateResultTokens(response), 0);
  const factor = rules.relaxedTokens / Math.max(1, live);
  return Math.min(rules.maxRelaxation, Math.max(1, factor));
}

/** Infinitely many times nothing is nothing. */
function times(lease: number, factor: number): number {
  return lease === 0 ? 0 : lease * factor;
}

function isRange({ kind, lines, paths }: Call): boolean {
  return kind === 'read' && lines !== undefined && paths.length === 1;
}

function covers({ lines: outer }: Call, { lines: inner }: Call): boolean {
  return outer !== undefined && inner !== undefined && outer[0] <= inner[0] && outer[1] >= inner[1];
}

function overlaps({ lines: a }: Call, { lines: b }: Call): boolean {
  return a !== undefined && b !== undefined && a[0] <= b[1] && b[0] <= a[1];
}

/** Whether a call has a result that one can still look at. */
function shows({ response }: Call): boolean {
  return response !== undefined && !isGone(response) && response.error === undefined;
}

function isGone(response: ToolResponseBlock): boolean {
  return placeholderKind(response) !== 'none';
}

function isTaken(response: ToolResponseBlock, { blocks, results }: NaivelyTaken): boolean {
  return blocks.includes(response) || results.includes(response);
}

function tokensOf(fate: NaiveFate): number {
  return fate === 'excerpt' ? EXCERPT : PLACEHOLDER;
}

/** The tokens of a result once all that is stale has left. */
function tokensLeft(
  block: ToolResponseBlock,
  stale: ReadonlyMap<ToolResponseBlock, NaiveFate>,
  taken: NaivelyTaken,
): number {
  if (taken.blocks.includes(block)) return 0;
  const tokens = estimateResultTokens(block);
  const fate = stale.get(block);
  if (fate !== undefined) return Math.min(tokens, tokensOf(fate));
  if (isGone(block) || isTaken(block, taken)) return PLACEHOLDER;
  return isOldExcerpt(block.result) ? EXCERPT : tokens;
}

function isOldExcerpt(result: unknown): boolean {
  return (
    typeof result === 'string' &&
    result.length <= SHORT &&
    result.includes(' left out of this old output …]')
  );
}
