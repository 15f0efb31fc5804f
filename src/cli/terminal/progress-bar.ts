// Progress on stderr, one bar per stage; stdout stays free for the report.

import { widthOf } from './terminal-layout.js';

export interface Progress {
  /** Starts a stage and returns its update function, which takes the number of things done so far, out of `total`. */
  readonly begin: (total: number, doing: string, things: string) => (done: number) => void;
  /** Clears the bar. Idempotent. */
  readonly close: () => void;
}

const SILENT: Progress = { begin: () => () => undefined, close: () => undefined };

const MAX_BAR = 30;
/** Columns for the text beside the bar. */
const TEXT_WIDTH = 34;

/**
 * Opens the display. Without a terminal that has some width and can move its cursor, or when quiet, it is a no-op and the library is
 * not loaded.
 */
export async function openProgress(isQuiet: boolean): Promise<Progress> {
  const room = (widthOf(process.stderr) ?? 0) - TEXT_WIDTH;
  const isDumb = process.env['TERM'] === 'dumb';
  if (!process.stderr.isTTY || isDumb || isQuiet || room < 1) return SILENT;
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    format: '{doing} {bar} {value}/{total} {things}',
    stream: process.stderr,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: Math.min(MAX_BAR, room),
    // Leaves the modes of the terminal alone: a run that is killed, as by a second Ctrl-C, could not set them back.
    linewrap: true,
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
