// One run of `analyze --explain`: reads and plays a session, and prints why one of its entries stays or goes.

import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readTranscript } from '../../../transcripts.js';
import type { AnalyzeArguments } from '../analyze/analyze-command.js';
import { replaySession } from '../replay/replay-session.js';
import { EXIT } from '../terminal/exit-codes.js';
import { explainEntry } from './explain-entry.js';
import { renderExplanation } from './render-explanation.js';
import type { ExplanationReport } from './render-explanation.js';
import { contentLabel } from '../terminal/content-label.js';
import { terminalLayout } from '../terminal/terminal-layout.js';
import { jsonText, printable } from '../terminal/terminal-text.js';

/**
 * Explains one entry of a session and prints it.
 *
 * @returns the exit code
 * @throws the signal's reason; what reading throws.
 */
export async function runExplain(
  path: string,
  index: number,
  given: AnalyzeArguments,
  signal: AbortSignal,
): Promise<number> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return misused('--explain takes one session, and this is a folder.');
  const { format } = given;
  const transcript = await readTranscript(path, {
    signal,
    ...(format !== undefined && { format }),
  });
  const { length } = transcript.entries;
  if (index >= length) {
    return misused(`--explain ${index}: the session has ${length} entries, counted from 0.`);
  }
  const recording = await replaySession(path, transcript, {
    contextLimit: given.contextLimit,
    offload: 'auto',
    strategy: 'high-density',
    recencyRetention: given.recency,
    workspaceRoot: given.workspace === undefined ? undefined : resolve(given.workspace),
    threads: given.threads,
    signal,
    explains: true,
  });
  const explained = explainEntry(recording, index);
  if (explained === null) {
    const { playedEntries } = recording.report;
    return misused(`--explain ${index}: the session could be played up to entry ${playedEntries}.`);
  }
  const report: ExplanationReport = {
    reportVersion: 1,
    file: path,
    format: transcript.format,
    entries: length,
    ...explained,
  };
  process.stdout.write(
    given.json === true
      ? jsonText(report, contentLabel(given.redact))
      : renderExplanation(report, terminalLayout()),
  );
  return EXIT.done;
}

function misused(message: string): number {
  console.error(`ctxfold: ${printable(message)}`);
  return EXIT.usage;
}
