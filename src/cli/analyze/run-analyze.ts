// Runs `analyze`: finds the files, analyzes them, prints the result.

import { availableParallelism } from 'node:os';
import { runExplain } from './run-explain.js';
import { largestFirst } from '../measure/aggregate.js';
import { playFiles, setupOf, withSessions } from '../replay/play-file.js';
import type { PlayedFiles } from '../replay/play-file.js';
import type { ReplayOptions } from '../replay/replay-session.js';
import { exitCodeOfFolder } from '../replay/run-replay.js';
import type { SessionFiles } from '../replay/session-files.js';
import { contentLabel } from '../terminal/content-label.js';
import { EXIT } from '../terminal/exit-codes.js';
import { printCode, printMessage, printText } from '../terminal/print.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { jsonText } from '../terminal/terminal-text.js';
import type { AnalyzeArguments } from './analyze-command.js';
import { analyzeRecording } from './analysis.js';
import type { AnalysisReport, SessionAnalysis } from './analysis-report.js';
import { sumAnalyses } from './analysis-totals.js';
import { renderAnalysis } from './render-analysis.js';
import { renderSuggestion } from './suggestion.js';

/**
 * Analyzes a file or folder and prints the result, or explains one entry of a file.
 *
 * @returns the exit code
 * @throws UsageError if an option is invalid; InterruptedError on SIGINT; errors of reading a single file and of playing.
 */
export async function runAnalyze(path: string, given: AnalyzeArguments): Promise<number> {
  const { explain } = given;
  const isJson = given.json === true;
  // One setup for analyses and explanations, so that both play a session identically.
  const setup = setupOf({ ...given, offload: 'auto', strategy: 'high-density' });
  return await withSessions(path, setup, isJson, async (found, options) => {
    if (explain !== undefined) return runExplain(path, explain, given, found, options);
    const report = await analyze(path, found, options);
    options.progress?.close();
    const layout = terminalLayout();
    if (isJson) process.stdout.write(jsonText(report, contentLabel(given.redact)));
    else if (given.suggest !== true) printText(renderAnalysis(report, layout));
    else printCode(renderSuggestion(report, layout.width, given.workspace));
    const stop = report.isFolder ? null : (report.sessions[0]?.stop ?? null);
    if (stop === null) return exitCodeOfFolder(report.sessions);
    // A report on a terminal already shows why the replay stopped.
    if (isJson || given.suggest === true || !process.stdout.isTTY) printMessage(stop);
    // `high-density` calls no model, so a session can only have stopped because it did not fit the window.
    return EXIT.windowExceeded;
  });
}

async function analyze(
  path: string,
  found: SessionFiles,
  options: ReplayOptions,
): Promise<AnalysisReport> {
  const { contextLimit = null, recency = null } = options;
  const { sessions, unread } = await analyzeFiles(found, options);
  return {
    reportVersion: 1,
    path,
    isFolder: found.isFolder,
    settings: { contextLimit, recencyRetention: recency },
    sessions,
    totals: sumAnalyses(sessions),
    unread,
  };
}

const MAX_THREADS = 8;

/**
 * Analyzes files, a few at a time, so that parsing on the calling thread overlaps with counting on worker threads; most tokens first.
 *
 * @throws as `playFiles` does.
 */
export async function analyzeFiles(
  found: SessionFiles,
  options: ReplayOptions,
): Promise<PlayedFiles<SessionAnalysis>> {
  const { threads = Math.min(MAX_THREADS, availableParallelism()) } = options;
  // One more file than threads, so that one file is parsed while each thread counts another.
  const play = { ...options, threads, doing: 'analyzing', atOnce: threads + 1 };
  const { sessions, unread } = await playFiles(found, play, analyzeRecording);
  return { sessions: largestFirst(sessions, ({ tokens }) => tokens.without), unread };
}
