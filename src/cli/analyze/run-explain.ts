// Runs `analyze --explain`: reads and plays a session, and prints why one of its entries stays or goes.

import { explainDensity } from '../../density.js';
import type { AnalyzeArguments } from './analyze-command.js';
import { replaySession } from '../replay/replay-session.js';
import type { ReplayOptions } from '../replay/replay-session.js';
import { readSession } from '../replay/session-files.js';
import type { SessionFiles } from '../replay/session-files.js';
import { UsageError } from '../terminal/options.js';
import { printText } from '../terminal/print.js';
import { EXIT } from '../terminal/exit-codes.js';
import { renderExplanation } from './render-explanation.js';
import type { ExplanationReport } from './render-explanation.js';
import { placedIn } from '../replay/attributed-steps.js';
import type { Recording } from '../replay/recording.js';
import { contentLabel } from '../terminal/content-label.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { jsonText } from '../terminal/terminal-text.js';
import { formatNumberOf } from '../terminal/text-layout.js';

/**
 * Explains one entry of a session and prints it.
 *
 * @returns the exit code
 * @throws UsageError if there is no such entry; the signal's reason; errors of reading.
 */
export async function runExplain(
  path: string,
  index: number,
  given: Pick<AnalyzeArguments, 'json' | 'redact'>,
  { isFolder }: SessionFiles,
  options: ReplayOptions,
): Promise<number> {
  if (isFolder) throw new UsageError('--explain needs a single session, not a folder.');
  const transcript = await readSession(path, options);
  const { length } = transcript.entries;
  if (index >= length) {
    const entries = formatNumberOf(length, 'entry', 'entries');
    throw new UsageError(`--explain ${index}: the session has ${entries}, counted from 0.`);
  }
  const recording = await replaySession(path, transcript, options);
  options.progress?.close();
  const explained = explainEntry(recording, index);
  if (explained === null) {
    const { playedEntries } = recording.report;
    throw new UsageError(
      `--explain ${index}: the session could only be played up to entry ${playedEntries}.`,
    );
  }
  const { format } = transcript;
  const report = { reportVersion: 1, file: path, format, entries: length, ...explained } as const;
  if (given.json === true) process.stdout.write(jsonText(report, contentLabel(given.redact)));
  else printText(renderExplanation(report, terminalLayout()));
  return EXIT.done;
}

/**
 * Returns what became of an entry, by its index in the transcript. The explanation is that of the pass that last edited the entry, or
 * of one more pass if none did. `null` if the entry was not played.
 */
export function explainEntry(
  recording: Recording,
  index: number,
): Pick<ExplanationReport, 'explanation' | 'landed'> | null {
  const { report, contexts, density } = recording;
  const entry = contexts.flatMap(({ added }) => added)[index];
  if (entry === undefined) return null;
  const context = contexts.find(({ origins }) => origins.includes(index));
  const landed = recording.landed.get(index);
  if (landed === undefined) {
    if (context === undefined) return null;
    const explanation = explainDensity(context.remaining, density).explain(
      context.origins.indexOf(index),
    );
    return { explanation: placedIn(explanation, context.origins), landed: null };
  }
  const modelCall = landed.turn < report.modelCalls.length ? landed.turn + 1 : null;
  const explanation = landed.explain();
  if (explanation !== null) return { explanation, landed: { modelCall, step: 'pruned' } };
  const verdict = context === undefined ? 'removed' : 'changed';
  return {
    explanation: { index, speaker: entry.speaker, verdict, blocks: [] },
    landed: { modelCall, step: 'compressed' },
  };
}
