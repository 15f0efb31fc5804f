// Formats numbers, names and colours as text of a known width. Knows nothing about reports.

import { stripVTControlCharacters, styleText } from 'node:util';

/** Colours a text, or returns it unchanged where colours are off. */
export type Paint = (style: 'bold' | 'dim' | 'cyan' | 'green' | 'yellow', text: string) => string;

export function createPaint(isColoured: boolean): Paint {
  return isColoured
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** `12,345` */
export function formatCount(count: number): string {
  return WHOLE.format(count);
}

/** `−12`, `+3`, `0` */
export function formatChange(tokens: number): string {
  const sign = tokens < 0 ? '\u2212' : '+';
  return tokens === 0 ? '0' : sign + formatCount(Math.abs(tokens));
}

/** `12.3K` */
export function formatCompact(count: number): string {
  return COMPACT.format(count);
}

/** `12.3 %`, or a dash when `whole` is 0. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)} %`;
}

/** `0.42 ms`, `42 ms`, `4.2 s`: fewer decimals for larger values. */
export function formatMs(ms: number): string {
  if (ms >= 9_950) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 995) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms.toFixed(ms >= 9.95 ? 0 : ms >= 0.995 ? 1 : 2)} ms`;
}

/** `1 entry`, `2 entries` */
export function formatNumberOf(count: number, one: string, many: string = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** Truncates the end, marked by an ellipsis. */
export function shortenEnd(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** Truncates the start: for paths, whose end says more. */
export function shortenStart(text: string, maxLength: number): string {
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `…${characters.slice(1 - maxLength).join('')}`;
}

/** Joins facts with dots into lines of at most `width`, broken between facts where possible. */
export function joined(facts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 3 + fact.length > width)
      lines.push(...wrap(fact, width));
    else lines[lines.length - 1] = `${line} · ${fact}`;
  }
  return lines;
}

/** Puts a mark in front of the first line, and as many spaces in front of the others. */
export function marked(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, at) => (at === 0 ? mark : ' '.repeat(mark.length)) + line);
}

/** Returns the lines that stand for things that are not listed; none if there are none. */
export function moreLines(
  count: number,
  what: string,
  indent: number,
  width: number,
): readonly string[] {
  if (count <= 0) return [];
  const text = `and ${formatCount(count)} ${what}; --json lists all`;
  return marked(' '.repeat(indent), wrap(text, width - indent));
}

/** Wraps a text to `width`, at spaces; only words longer than a line are split. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').flatMap((each) => piecesOf(each, width))) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function piecesOf(word: string, width: number): readonly string[] {
  if (word.length <= width) return [word];
  const characters = Array.from(word);
  return Array.from({ length: Math.ceil(characters.length / width) }, (_, at) =>
    characters.slice(at * width, (at + 1) * width).join(''),
  );
}

/** Wraps the lines that are wider than `width`. Continuations of an indented line are indented further. */
export function fitLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) =>
      stripVTControlCharacters(line).length <= width
        ? [line]
        : fitLine(stripVTControlCharacters(line), width),
    )
    .join('\n');
}

/** The indent, and a term in front of two or more spaces, which gets its own line. */
const TERM = /^( *)(?:(\S.*?) {2,}(?=\S))?/;

function fitLine(line: string, width: number): readonly string[] {
  const [head = '', spaces = '', term] = TERM.exec(line) ?? [];
  const words = line.slice(head.length).trim().split(/ +/);
  // Drop the indent rather than split a word: it may be code.
  const room = width - Math.max(...words.map(({ length }) => length)) - HANG.length;
  const indent = spaces.length > room ? '' : spaces.slice(0, Math.floor(width / 4));
  const hang = indent === '' ? '' : indent + HANG;
  const rest = wrap(words.join(' '), width - hang.length);
  if (term === undefined) return rest.map((part, at) => (at === 0 ? indent : hang) + part);
  const ofTerm = wrap(term, width - indent.length).map((part) => indent + part);
  return [...ofTerm, ...rest.map((part) => hang + part)];
}

const HANG = '  ';
