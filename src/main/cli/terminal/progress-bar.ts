// The progress bar of a run, on stderr so that stdout stays the report.

/** A bar that is shown from its opening to its closing. */
export interface ProgressBar {
  /** Told how much is done. */
  readonly update: (done: number) => void;
  /** Wipes the bar and gives the cursor back. */
  readonly close: () => void;
}

/** Shows a bar for so many things. The library is loaded only where there is somebody to see it. */
export async function openProgressBar(
  total: number,
  doing: string = 'replaying',
  things: string = 'entries',
): Promise<ProgressBar> {
  const { default: progress } = await import('cli-progress');
  const bar = new progress.SingleBar({
    format: `${doing} {bar} {value}/{total} ${things}`,
    stream: process.stderr,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false,
  });
  bar.start(total, 0);
  return {
    update: (done) => {
      bar.update(done);
    },
    close: () => {
      bar.stop();
    },
  };
}
