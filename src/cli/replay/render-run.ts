// Renders how the replay went: compressions, summaries, event loop, work.

import { groupBy } from '../measure/aggregate.js';
import type { CompressionReport, ReplayReport } from './replay-report.js';
import { printable } from '../terminal/terminal-text.js';
import {
  formatCount,
  formatMs,
  formatNumberOf,
  formatShare,
  joined,
  marked,
  moreLines,
} from '../terminal/text-layout.js';
import type { Layout } from '../terminal/terminal-layout.js';

const LABEL_WIDTH = 12;
const MAX_FAILURES = 3;

/** Returns the lines of the section. */
export function renderRun(report: ReplayReport, { width, paint }: Layout): readonly string[] {
  const { failures } = report;
  const kinds = Array.from(groupBy(failures, printable), ([message, { length }]) =>
    length === 1 ? message : `${message} (${formatCount(length)} times)`,
  );
  return [
    paint('dim', 'run'),
    ...labelled('history', historyFacts(report), width),
    ...labelled('summaries', summaryFacts(report), width),
    ...labelled('removed', removalFacts(report), width),
    ...labelled('event loop', eventLoopFacts(report), width),
    ...labelled('work', workFacts(report), width),
    ...kinds.slice(0, MAX_FAILURES).flatMap((kind) => labelled('failure', [kind], width)),
    ...moreLines(kinds.length - MAX_FAILURES, 'more', LABEL_WIDTH, width),
  ];
}

function historyFacts({ modelCalls, end }: ReplayReport): readonly string[] {
  const edited = modelCalls.filter(({ edits }) => edits.length > 0).length;
  const preflights = [...modelCalls, end];
  const compressions = preflights.flatMap((preflight) => preflight.compressions);
  const ended = (...outcomes: readonly CompressionReport['outcome'][]): number =>
    compressions.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const applied = compressions.filter(({ outcome }) => outcome === 'applied');
  const byModel = applied.filter(({ isByModel }) => isByModel).length;
  const fallbacks = compressions.filter(({ fallbackFrom }) => fallbackFrom !== null).length;
  const fitted = preflights.filter((preflight) => preflight.fitted !== null).length;
  return [
    `edits before ${formatCount(edited)} of ${formatNumberOf(modelCalls.length, 'model call')}`,
    formatNumberOf(applied.length, 'compression') +
      (byModel > 0 ? `, ${formatCount(byModel)} by the model` : ''),
    ...nonZero(fallbacks, 'truncated instead'),
    ...nonZero(ended('rejected', 'stale'), 'discarded'),
    ...nonZero(ended('held'), 'held back'),
    ...nonZero(ended('failed'), 'failed'),
    ...(fitted > 0 ? [`made to fit ${formatNumberOf(fitted, 'time')}`] : []),
  ];
}

function summaryFacts({ summarizer }: ReplayReport): readonly string[] {
  const { requests, failedRequests, unmeteredRequests, inputTokens, outputTokens, waitMs } =
    summarizer;
  if (requests === 0) return [];
  return [
    formatNumberOf(requests, 'request'),
    ...nonZero(failedRequests, 'failed'),
    `${formatCount(inputTokens)} tokens read`,
    `${formatCount(outputTokens)} written`,
    ...nonZero(unmeteredRequests, 'without usage figures'),
    `waited ${formatMs(waitMs)}`,
  ];
}

function removalFacts({ removals }: ReplayReport): readonly string[] {
  if (removals === null) return [];
  return [
    `${formatNumberOf(removals.records, 'original entry', 'original entries')} in ${printable(removals.file)}`,
  ];
}

function eventLoopFacts({ mainThread }: ReplayReport): readonly string[] {
  return [
    `longest block ${formatMs(mainThread.longestDelayMs)}`,
    `busy ${formatShare(mainThread.utilization, 1)} of ${formatMs(mainThread.elapsedMs)}`,
    `preflights ${formatMs(mainThread.windowWaitMs)}, ${formatMs(mainThread.windowBusyMs)} of it busy`,
    `longest preflight ${formatMs(mainThread.longestWindowMs)}`,
  ];
}

function workFacts({ offload }: ReplayReport): readonly string[] {
  return [
    `${formatNumberOf(offload.workerTasks, 'task')} in workers for ${formatMs(offload.workerMs)}`,
    `${formatMs(offload.queueMs)} in queue`,
    `${formatNumberOf(offload.inlineTasks, 'task')} inline`,
    formatNumberOf(offload.fallbacks, 'fallback'),
  ];
}

function nonZero(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${formatCount(count)} ${what}`];
}

function labelled(label: string, facts: readonly string[], width: number): readonly string[] {
  return marked(label.padEnd(LABEL_WIDTH), joined(facts, width - LABEL_WIDTH));
}
