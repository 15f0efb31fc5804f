// How far a run has come, on stderr so that stdout stays the report: one bar for each of its stages.

import { widthOf } from './terminal-layout.js';

/** Shows one stage after the other. */
export interface Progress {
  /** Begins a stage of so many things, shown at once; what it returns is told how many are done. */
  readonly begin: (total: number, doing: string, things: string) => (done: number) => void;
  /** Wipes the bar and gives the cursor back. */
  readonly close: () => void;
}

const SILENT: Progress = { begin: () => () => undefined, close: () => undefined };

const MAX_BAR = 30;
/** Columns beside the bar. */
const WORDS = 34;

/** Opens the display where somebody looks at stderr; the library is loaded only then. */
export async function openProgress(isQuiet: boolean): Promise<Progress> {
  if (!process.stderr.isTTY || isQuiet) return SILENT;
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    format: '{doing} {bar} {value}/{total} {things}',
    stream: process.stderr,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: Math.max(1, Math.min(MAX_BAR, (widthOf(process.stderr) ?? 0) - WORDS)),
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
  });
  return {
    begin: (total, doing, things) => {
      bar.stop();
      bar.start(total, 0, { doing, things });
      return (done) => {
        bar.update(done);
      };
    },
    close: () => {
      bar.stop();
    },
  };
}
