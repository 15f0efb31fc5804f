// The progress bar of a replay, on stderr so that stdout stays the report.

/** A bar that is shown from its opening to its closing. */
export interface ProgressBar {
  readonly update: (playedEntries: number) => void;
  /** Wipes the bar and gives the cursor back. */
  readonly close: () => void;
}

/** Shows a bar for so many entries. The library is loaded only where there is somebody to see it. */
export async function openProgressBar(entries: number): Promise<ProgressBar> {
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    format: 'replaying {bar} {value}/{total} entries',
    stream: process.stderr,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
  });
  bar.start(entries, 0);
  return {
    update: (playedEntries) => {
      bar.update(playedEntries);
    },
    close: () => {
      bar.stop();
    },
  };
}
