// Width and colour of what is printed, and the layout that all reports share.

import { styleText } from 'node:util';
import { printable } from './terminal-text.js';
import { joined, shortenStart } from './text-layout.js';

const WIDTH_OF_PIPES = 80;
const MIN_WIDTH = 24;
const MAX_WIDTH = 100;
const MAX_LIST_WIDTH = 160;

/** Returns the width of stdout, in columns. */
export function outputWidth(): number {
  return widthOf(process.stdout) ?? WIDTH_OF_PIPES;
}

/** Returns `COLUMNS` if set, else the width of a terminal; `undefined` for a pipe or file. */
export function widthOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  const asked = Number(/^\d{1,4}$/.exec(process.env['COLUMNS'] ?? '')?.[0] ?? 0);
  if (asked > 0) return Math.max(MIN_WIDTH, asked);
  // Some terminals report 0 columns.
  return isTTY ? Math.max(MIN_WIDTH, columns || WIDTH_OF_PIPES) : undefined;
}

/** Colours a text, or returns it unchanged where colours are off. */
export type Paint = (style: 'bold' | 'dim' | 'cyan' | 'green' | 'yellow', text: string) => string;

export function createPaint(isColoured: boolean): Paint {
  return isColoured
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

/** Widths in columns, and colours, with which a report is rendered. */
export interface Layout {
  /** At most 100, because longer lines are hard to read. */
  readonly width: number;
  /** Width of lists of files, whose long names need more than `width`. */
  readonly listWidth: number;
  readonly paint: Paint;
}

/** Returns the layout of reports on stdout. Whether to colour follows https://force-color.org, then https://no-color.org. */
export function terminalLayout(): Layout {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env;
  const isColoured = FORCE_COLOR
    ? !/^(?:0|false)$/.test(FORCE_COLOR)
    : process.stdout.isTTY && !NO_COLOR && TERM !== 'dumb';
  return layoutOf(outputWidth(), isColoured);
}

/** Returns the layout for an output of `columns` columns. */
export function layoutOf(columns: number, isColoured: boolean): Layout {
  const width = Math.max(MIN_WIDTH, columns);
  return {
    width: Math.min(MAX_WIDTH, width),
    listWidth: Math.min(MAX_LIST_WIDTH, width),
    paint: createPaint(isColoured),
  };
}

/** Returns the head of a report: the command with its path, then facts in dim lines. */
export function reportHead(
  command: string,
  path: string,
  facts: readonly string[],
  { width, paint }: Layout,
): readonly string[] {
  const title = `ctxfold ${command} `;
  return [
    paint('bold', title + shortenStart(printable(path), width - title.length)),
    ...joined(facts, width).map((line) => paint('dim', line)),
  ];
}

/** Joins sections with blank lines between them, leaving out empty ones. */
export function sectionsText(sections: readonly (readonly string[])[]): string {
  const texts = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${texts.join('\n\n')}\n`;
}
