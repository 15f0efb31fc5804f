// What a report says in words, on the terminal and on the page: about the session, before the figures, and how the replay went.

import type { CompressionReport, ReplayReport } from './replay-report.js';
import { formatCount, formatMs, formatNumberOf, formatShare } from '../terminal/text-layout.js';

/** Returns what was played, and the settings that every replay has. */
export function sessionFacts(report: ReplayReport, model: string | null = null): readonly string[] {
  const { format, entries, playedEntries, modelCalls, settings } = report;
  const played = playedEntries < entries ? `${formatCount(playedEntries)} of ` : '';
  return [
    format,
    ...(model === null ? [] : [model]),
    played + formatNumberOf(entries, 'entry', 'entries'),
    formatNumberOf(modelCalls.length, 'model call'),
    `context window ${formatCount(settings.contextLimit)}`,
    settings.strategy,
  ];
}

/** Returns what the figures mean for the context window. @param stop why the replay stopped early */
export function windowNotices(
  { firstCallOverLimit, modelCalls, settings }: ReplayReport,
  stop: string | null,
): readonly string[] {
  const next = formatCount(modelCalls.length + 1);
  return [
    ...(stop === null ? [] : [`Stopped before model call ${next}: ${stop}`]),
    ...(firstCallOverLimit === null
      ? []
      : [
          `Without ctxfold, model call ${formatCount(firstCallOverLimit)} would not have fitted the window of ` +
            `${formatCount(settings.contextLimit)} tokens.`,
        ]),
  ];
}

/** Returns how the replay went, as facts with a label. */
export function runFacts(
  report: ReplayReport,
): readonly (readonly [label: string, facts: readonly string[]])[] {
  const facts = [
    ['history', historyFacts(report)],
    ['summaries', summaryFacts(report)],
    ['removed', removalFacts(report)],
    ['event loop', eventLoopFacts(report)],
    ['work', workFacts(report)],
  ] as const;
  return facts.filter(([, those]) => those.length > 0);
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
    `${formatNumberOf(removals.records, 'original entry', 'original entries')} in the removal log`,
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
    `${formatNumberOf(offload.residentPasses, 'pass', 'passes')} over a resident history`,
    `${formatMs(offload.queueMs)} in queue`,
    `${formatNumberOf(offload.inlineTasks, 'task')} inline`,
    `main thread busy for ${formatMs(offload.mainThreadMs)}`,
    formatNumberOf(offload.fallbacks, 'fallback'),
    ...nonZero(offload.failures, 'failed in workers'),
  ];
}

function nonZero(count: number, what: string): readonly string[] {
  return count === 0 ? [] : [`${formatCount(count)} ${what}`];
}
