// Which lines an edit by line numbers replaces, from the last window that its editor showed (`12:text` under the file name).
// Supports windows of one file; does not guess lines that scrolled out.

import type { ToolCallBlock, ToolResponseBlock } from '../../src/index.js';
import { shownLines } from './replaced-texts.js';
import type { ReplacedText } from './replaced-texts.js';

const WINDOW = /^\[File: (.+) \(\d+ lines total\)\]\r?$/m;
const NUMBERED_LINE = /^(\d+):(.*)$/gm;
const EDIT_COMMAND = /^edit (\d+):(\d+)\s/;

/** The window of a session's editor, as its results show it. */
export class NumberedLines {
  #file = '';
  #lines = new Map<number, string>();

  /** Records a result, unless it failed, since that does not show the file. */
  see({ result, error }: ToolResponseBlock): void {
    if (typeof result !== 'string' || error !== undefined) return;
    const window = WINDOW.exec(result);
    if (window === null) return;
    this.#file = window[1] ?? '';
    const shown = result.slice(window.index).matchAll(NUMBERED_LINE);
    this.#lines = new Map(Array.from(shown, ([, number, text]) => [Number(number), text ?? '']));
  }

  /** Returns what a call replaces by line number; nothing unless the window shows all of the lines. */
  replacedBy({ parameters }: ToolCallBlock): readonly ReplacedText[] {
    const range = editedRange(parameters);
    if (range === undefined) return [];
    const lines: string[] = [];
    for (let number = range.first; number <= range.last; number += 1) {
      const text = this.#lines.get(number);
      if (text === undefined) return [];
      lines.push(...shownLines(text));
    }
    return lines.length === 0 ? [] : [{ file: this.#file, lines }];
  }
}

function editedRange(
  parameters: unknown,
): { readonly first: number; readonly last: number } | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined;
  const values = parameters as Readonly<Record<string, unknown>>;
  const { command, replacement_text: replacement, start_line: first, end_line: last } = values;
  if (typeof replacement === 'string' && typeof first === 'number' && typeof last === 'number') {
    return { first, last };
  }
  const edit = typeof command === 'string' ? EDIT_COMMAND.exec(command) : null;
  return edit === null ? undefined : { first: Number(edit[1]), last: Number(edit[2]) };
}
