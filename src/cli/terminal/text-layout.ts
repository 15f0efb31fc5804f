// Formats numbers and names as text of a known width. Knows nothing about reports, and runs in browsers too.

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat('en-US', {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** `12,345`, `−12` */
export function formatCount(count: number): string {
  return WHOLE.format(count).replace('-', '\u2212');
}

/** `−12`, `+3`, `0` */
export function formatChange(tokens: number): string {
  return (tokens > 0 ? '+' : '') + formatCount(tokens);
}

/** `12.3K` */
export function formatCompact(count: number): string {
  return COMPACT.format(count);
}

/** `12.3 %`, `−3.2 %`, or a dash when `whole` is 0. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return '–';
  const shown = TENTHS.format(Math.abs(part / whole) * 100);
  return `${part / whole < 0 && shown !== '0.0' ? '\u2212' : ''}${shown} %`;
}

/** `$12.30`, `$0.0042`, `−$1.00`: at least two significant digits. */
export function formatDollars(dollars: number): string {
  if (dollars < 0) return `−${formatDollars(-dollars)}`;
  const digits =
    dollars === 0 || dollars >= 0.095 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(dollars)));
  return `$${dollars.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** `60 % less`, `3 % more`, `the same` */
export function formatSaving(without: number, left: number): string {
  const share = without === 0 ? 0 : (without - left) / without;
  if (Math.abs(share) < 0.005) return 'the same';
  return `${formatCount(Math.abs(share) * 100)} % ${share > 0 ? 'less' : 'more'}`;
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

const ASCII = /^[\x20-\x7e]*$/;

/** Matches characters that take two columns in a terminal: East Asian wide and full-width ones, and emoji. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]/u;
/** Matches combining marks, which take no column. */
const COMBINING = /\p{M}/u;

/** Returns the number of columns that a text without control characters takes in a terminal. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    columns += WIDE.test(character) ? 2 : COMBINING.test(character) ? 0 : 1;
  }
  return columns;
}

/** Returns the longest prefix of `characters` that fits in `columns`. */
function fitting(characters: readonly string[], columns: number): readonly string[] {
  let room = columns;
  const end = characters.findIndex((character) => (room -= columnsOf(character)) < 0);
  return end === -1 ? characters : characters.slice(0, end);
}

/** Truncates the end to a number of columns, marked by an ellipsis. */
export function shortenEnd(text: string, maxColumns: number): string {
  if (columnsOf(text) <= maxColumns) return text;
  return `${fitting(Array.from(text), maxColumns - 1).join('')}…`;
}

/** Truncates the start to a number of columns. For paths, whose end is more informative. */
export function shortenStart(text: string, maxColumns: number): string {
  if (columnsOf(text) <= maxColumns) return text;
  return `…${fitting(Array.from(text).reverse(), maxColumns - 1)
    .toReversed()
    .join('')}`;
}

/** Joins facts with dots into lines of at most `width`, broken between facts where possible. */
export function joined(facts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const fact of facts) {
    const line = lines.at(-1);
    if (line === undefined || columnsOf(line) + 3 + columnsOf(fact) > width)
      lines.push(...wrap(fact, width));
    else lines[lines.length - 1] = `${line} · ${fact}`;
  }
  return lines;
}

/** Prefixes the first line with a mark, and indents the other lines by its length. */
export function marked(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, at) => (at === 0 ? mark : ' '.repeat(mark.length)) + line);
}

/** Returns lines such as `and 12 sessions; --json lists all` for unlisted items; no lines if `count` is 0. */
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
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function piecesOf(word: string, width: number): readonly string[] {
  if (columnsOf(word) <= width) return [word];
  const pieces: string[] = [];
  for (let rest: readonly string[] = Array.from(word); rest.length > 0;) {
    const fits = fitting(rest, width);
    // Take at least one character even if it is wider than the line, so that the loop ends.
    const length = Math.max(1, fits.length);
    pieces.push(rest.slice(0, length).join(''));
    rest = rest.slice(length);
  }
  return pieces;
}
