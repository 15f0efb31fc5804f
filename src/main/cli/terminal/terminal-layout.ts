// How the terminal that a report goes to wants it. Prints nothing.

import type { RenderOptions } from '../replay/render-report.js';

const WIDTH_OF_PIPES = 80;

/** Returns the width of stdout, and whether it may be coloured: see https://no-color.org. */
export function terminalLayout(): RenderOptions {
  const { isTTY, columns } = process.stdout;
  const { NO_COLOR, TERM } = process.env;
  return {
    width: isTTY ? columns : WIDTH_OF_PIPES,
    isColoured: isTTY && (NO_COLOR ?? '') === '' && TERM !== 'dumb',
  };
}
