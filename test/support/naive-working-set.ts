// A second implementation of the working set, written from the rules. Scans the whole history for every question, shares no
// code with src/shared/density/, and is not meant to be fast.

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
import { naiveSpendable } from './naive-spent.js';

/** What replaces a result. */
type NaiveFate = 'pointer' | 'excerpt';

interface NaiveState {
  readonly fate: NaiveFate;
  /** Whether it triggers an edit. */
  readonly isDue: boolean;
}

/** What earlier phases removed. */
export interface NaivelyTaken {
  readonly blocks: readonly ContentBlock[];
  /** Responses whose results become pointers. */
  readonly results: readonly ContentBlock[];
}

/** Tokens of a placeholder and of a call's frame. */
const PLACEHOLDER = 16;
const CALL = 100;
const RECORD = 400;
const SMALL = 40;
const LONG = 40;
const COMPARED_READS = 64;
/** Relative prices of a cached token: read and write. */
const [READ, WRITE] = [0.1, 1.25];

interface Call {
  readonly block: ToolCallBlock;
  readonly entry: number;
  readonly response: ToolResponseBlock | undefined;
  /** Whether the model has answered since it arrived. */
  readonly isSent: boolean;
  readonly age: number;
  readonly kind: NaiveUse['kind'];
  readonly paths: readonly string[];
  readonly lines: readonly [first: number, last: number] | undefined;
  /** Equal for calls with the same tool and parameters; `undefined` if those do not identify the call. */
  readonly text: string | undefined;
  /** Tokens of its argument texts that can be spent. */
  readonly spendable: number;
}

/** What leaves a working set. */
export interface NaiveOutside {
  readonly results: ReadonlyMap<ToolResponseBlock, NaiveFate>;
  /** Calls whose argument texts are removed. */
  readonly calls: ReadonlySet<ContentBlock>;
}

const NOTHING: NaiveOutside = { results: new Map(), calls: new Set() };

/** Returns what leaves a working set, and what replaces it. */
export function naiveOutsideWorkingSet(
  history: readonly IContent[],
  rules: WorkingSetRules,
  root: string,
  taken: NaivelyTaken,
): NaiveOutside {
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
  const answer = history.findLastIndex(({ speaker }) => speaker === 'ai');
  const spent = calls.filter((call) => !taken.blocks.includes(call.block) && isSpent(call, calls));
  const inResults = responses
    .filter(({ block }) => !isTaken(block, taken) && !hasPlaceholder(block))
    .reduce((sum, { block }) => sum + estimateResultTokens(block), 0);
  const inSpent = spent.reduce((sum, { spendable }) => sum + spendable, 0);
  if (inResults < rules.freeTokens && inSpent < rules.freeTokens) return NOTHING;

  const gainOf = (tokens: number): number =>
    Math.max(0, tokens - PLACEHOLDER - Math.min(100, tokens / 10) - Math.min(25, tokens / 4));
  const due = [
    ...responses
      .filter(({ block }) => states.get(block)?.isDue === true)
      .map(({ block, entry }) => ({ entry, gain: gainOf(estimateResultTokens(block)) })),
    ...spent.map(({ entry, spendable }) => ({ entry, gain: spendable })),
  ];
  const priceFrom = (entry: number, isOfResult: boolean, at: number): number => {
    const callsBehind = calls.filter(
      (call) =>
        (isOfResult
          ? call.entry > entry
          : call.entry > entry || (call.entry === entry && at <= calls.indexOf(call))) &&
        call.entry < answer &&
        !taken.blocks.includes(call.block),
    );
    const ofCalls = callsBehind.reduce(
      (sum, call) => sum + CALL + (spent.includes(call) ? 0 : call.spendable),
      0,
    );
    const ofResults = responses
      .filter(
        (other, row) => (isOfResult ? row >= at : other.entry > entry) && other.entry < answer,
      )
      .reduce((sum, other) => sum + tokensLeft(other.block, states, taken), 0);
    return ((WRITE - READ) * (ofCalls + ofResults)) / (READ * rules.paybackCalls);
  };
  const places = [
    ...responses.flatMap(({ block, entry }, at) => {
      if (states.get(block)?.isDue !== true) return [];
      const others = responses.slice(at).filter((other) => states.get(other.block)?.isDue === true);
      const given =
        others.reduce((sum, other) => sum + gainOf(estimateResultTokens(other.block)), 0) +
        spent.filter((call) => call.entry > entry).reduce((sum, call) => sum + call.spendable, 0);
      return { entry, given, price: priceFrom(entry, true, at) };
    }),
    ...spent.map((call) => {
      const { entry } = call;
      const at = calls.indexOf(call);
      const given =
        due.filter((other) => other.entry > entry).reduce((sum, { gain }) => sum + gain, 0) +
        spent
          .filter((other) => other.entry === entry && calls.indexOf(other) >= at)
          .reduce((sum, { spendable }) => sum + spendable, 0);
      return { entry, given, price: priceFrom(entry, false, at) };
    }),
  ].filter(({ given, price }) => given > 0 && given - price >= 0);
  const most = Math.max(...places.map(({ given, price }) => given - price));
  // Sums in another order differ in their last digits.
  const best = places.filter(({ given, price }) => given - price >= most - 1e-6);
  const from = Math.min(...best.map(({ entry }) => entry));
  const leaving = responses.filter(({ entry }) => entry >= from).map(({ block }) => block);
  return {
    results: new Map(
      [...states].flatMap(([block, { fate }]) => (leaving.includes(block) ? [[block, fate]] : [])),
    ),
    calls: new Set(spent.filter(({ entry }) => entry >= from).map(({ block }) => block)),
  };
}

/** Whether the argument texts of a call are no longer useful. */
function isSpent(call: Call, calls: readonly Call[]): boolean {
  const { block, response, isSent, kind, spendable, paths } = call;
  if (kind !== 'write' || spendable === 0 || !isSent) return false;
  if (response === undefined || response.error !== undefined) return false;
  if (block.parallelGroup !== undefined) return false;
  if (block.name !== 'write_file') return true;
  return calls.slice(calls.indexOf(call) + 1).some((later) => {
    if (later.paths.length !== 1 || later.paths[0] !== paths[0]) return false;
    if (later.response === undefined || later.response.error !== undefined) return false;
    const [first = 2, last = 0] = later.lines ?? [];
    const isWhole = later.kind === 'read' && first <= 1 && last >= 2_000 && shows(later);
    return later.block.name === 'write_file' || isWhole;
  });
}

function callsOf(history: readonly IContent[], root: string): readonly Call[] {
  const answers = history.flatMap(({ speaker }, entry) => (speaker === 'ai' ? [entry] : []));
  return pairNaively(history).map(({ call, callEntry, responseEntry, responseBlock }) => {
    const response = history[responseEntry]?.blocks[responseBlock];
    const { kind, files, lines, command } = naiveUse(call.name, call.parameters);
    const asksForMore = kind === 'command' && command === undefined;
    const isTold = kind === 'write' || lines !== undefined || asksForMore;
    return {
      block: call,
      entry: callEntry,
      response: response?.type === 'tool_response' ? response : undefined,
      isSent: answers.some((entry) => entry > responseEntry),
      age: answers.filter((entry) => entry > callEntry).length,
      kind,
      paths: files.map((path) => resolve(root, path)),
      lines,
      spendable: kind === 'write' && call.hasFixedParameters !== true ? naiveSpendable(call) : 0,
      text: isTold ? undefined : `${call.name} ${JSON.stringify(command ?? call.parameters)}`,
    };
  });
}

/** `undefined` for results that stay. */
function stateOf(
  call: Call,
  calls: readonly Call[],
  rules: WorkingSetRules,
): NaiveState | undefined {
  const { response, isSent, age, kind, text, paths } = call;
  if (response === undefined || hasPlaceholder(response) || isExcerpt(response)) return undefined;
  if (!isSent || estimateResultTokens(response) < SMALL) return undefined;

  if (kind === 'ask') return undefined;
  const later = calls.slice(calls.indexOf(call) + 1);
  const isRepeated =
    text !== undefined && later.some((other) => other.text === text && shows(other));
  const reads = later
    .filter((other) => isRange(other) && other.response !== undefined)
    .filter((other) => other.paths[0] === paths[0])
    .slice(0, COMPARED_READS);
  const isReadAgain = isRange(call) && reads.some((other) => covers(other, call) && shows(other));
  const isLong = estimateResultTokens({ result: response.result }) >= LONG;
  if (isRepeated || isReadAgain) {
    return { fate: isLong && kind === 'unknown' ? 'excerpt' : 'pointer', isDue: true };
  }

  if (kind === 'instruct') return undefined;
  const isRecord = kind === 'unknown' && estimateResultTokens(response) < RECORD;
  const time =
    { read: rules.readCalls, search: rules.searchCalls, command: rules.outputCalls }[
      isRecord ? 'read' : (kind as string)
    ] ?? rules.otherCalls;
  if (!(age > time) && !(age > time * rules.earlyShare)) return undefined;
  return {
    fate: isLong ? 'excerpt' : 'pointer',
    isDue: age > time || rules.paybackCalls === Infinity,
  };
}

function isRange({ kind, lines, paths }: Call): boolean {
  return kind === 'read' && lines !== undefined && paths.length === 1;
}

function covers({ lines: outer }: Call, { lines: inner }: Call): boolean {
  return outer !== undefined && inner !== undefined && outer[0] <= inner[0] && outer[1] >= inner[1];
}

/** Whether a call has a result that is still visible. */
function shows({ response }: Call): boolean {
  return (
    response !== undefined &&
    !hasPlaceholder(response) &&
    !isExcerpt(response) &&
    response.error === undefined
  );
}

function hasPlaceholder(response: ToolResponseBlock): boolean {
  return placeholderKind(response) !== 'none';
}

function isTaken(response: ToolResponseBlock, { blocks, results }: NaivelyTaken): boolean {
  return blocks.includes(response) || results.includes(response);
}

/** The tokens of a result after stale content has left. */
function tokensLeft(
  block: ToolResponseBlock,
  states: ReadonlyMap<ToolResponseBlock, NaiveState>,
  taken: NaivelyTaken,
): number {
  if (taken.blocks.includes(block)) return 0;
  const isStale =
    states.has(block) || isTaken(block, taken) || hasPlaceholder(block) || isExcerpt(block);
  return isStale ? PLACEHOLDER : estimateResultTokens(block);
}

function isExcerpt({ result }: ToolResponseBlock): boolean {
  return (
    typeof result === 'string' && /^\[[^]*\]\nIt named: /.test(result) && result.length <= 1_200
  );
}
