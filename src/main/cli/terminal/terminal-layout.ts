// How wide what is printed may be, and whether it may be coloured. Prints nothing.

/** How a report is to look. */
export interface RenderOptions {
  /** Columns of the terminal. */
  readonly width: number;
  readonly isColoured: boolean;
}

const WIDTH_OF_PIPES = 80;
const MIN_WIDTH = 24;
const MAX_WIDTH = 100;

/** Returns the width of stdout, and whether it may be coloured: see https://no-color.org. */
export function terminalLayout(): RenderOptions {
  const { isTTY } = process.stdout;
  const { NO_COLOR, TERM } = process.env;
  return {
    width: widthOf(process.stdout) ?? WIDTH_OF_PIPES,
    isColoured: isTTY && (NO_COLOR ?? '') === '' && TERM !== 'dumb',
  };
}

/** Columns of a stream that somebody looks at, or those that `COLUMNS` asks for; `undefined` where nobody does. */
export function widthOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  const asked = Number(/^\d{1,4}$/.exec(process.env['COLUMNS'] ?? '')?.[0] ?? 0);
  if (asked > 0) return Math.max(MIN_WIDTH, asked);
  // Some terminals do not tell.
  return isTTY ? Math.max(MIN_WIDTH, columns || WIDTH_OF_PIPES) : undefined;
}

/** Columns of a report: longer lines are hard to read. */
export function reportWidth({ width }: RenderOptions): number {
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width));
}
