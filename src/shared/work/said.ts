// What the user said, within a budget: whole messages while they fit, else their most telling pieces, word for word.
// Prohibitions and corrections go last. Pure; knows nothing of notes or entries.

import { tryParseJson } from '../json.js';

/** What stands where pieces of a message were left out. */
export const LEFT_OUT = ' […] ';

/** What of the messages is kept, in their order. */
export interface KeptWords {
  readonly said: readonly string[];
  /** Messages of which nothing is kept. */
  readonly lost: number;
}

/** Words by which people forbid or correct, in a few languages. They only decide what goes last. */
const TELLING = new RegExp(
  [
    String.raw`\b(?:don['’]?t|do not|never|must(?:n['’]t| not)?|stop|instead|wrong|actually|rather than|only|always|undo|revert|without|avoid|should(?:n['’]t| not)|not what|except|leave|keep|forbidden|no,|wait,)(?!\w)`,
    String.raw`\b(?:nicht|nie|niemals|kein\w*|stattdessen|falsch|sondern|nur|immer|ohne|lass)\b`,
    String.raw`\b(?:ne pas|jamais|plutôt|seulement|sans|nunca|siempre|solo|sin|no lo|en vez)\b`,
    '不要|别|不能|禁止|必须|而不是|しないで|ではなく|必ず|하지 마|절대',
  ].join('|'),
  'iu',
);

const DASH = '- ';
/** Characters that JSON does not escape but some readers treat as line ends. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

/** How much of a message is its beginning, and up to which length all of a message is likely to be typed. UTF-16 units. */
const HEAD = 600;
const TYPED = 4_000;
const MAX_PIECE = 400;
/** Of what is longer, nothing is read but this much of the start. */
const MAX_READ = 200_000;

/** A sentence or line of a message, or a part of a long one. */
interface Piece {
  readonly message: number;
  readonly at: number;
  readonly text: string;
  /** What goes last has the lowest. */
  readonly tier: number;
}

/**
 * Returns the messages within a budget: all of them when they fit, else what matters most of each.
 *
 * @param budget UTF-8 bytes of their lines together, line feeds included
 */
export function keepWords(messages: readonly string[], budget: number): KeptWords {
  const whole = messages.reduce((sum, text) => sum + lineBytes(text), 0);
  if (whole <= budget) return { said: messages, lost: 0 };
  const kept = new Map<number, Piece[]>();
  let left = budget;
  for (const piece of byImportance(messages)) {
    const known = kept.get(piece.message);
    // The first has to pay for the line; each, for marks of what is left out around it.
    const bytes = wordBytes(piece.text) + MARKS + (known === undefined ? EMPTY_LINE : 0);
    if (bytes > left) continue;
    left -= bytes;
    if (known === undefined) kept.set(piece.message, [piece]);
    else known.push(piece);
  }
  const said = messages.flatMap((text, message) => {
    const pieces = kept.get(message);
    return pieces === undefined ? [] : joined(pieces, text);
  });
  return { said, lost: messages.length - said.length };
}

const EMPTY_LINE = lineBytes('');
const wordBytes = (text: string): number => lineBytes(text) - EMPTY_LINE;
const MARKS = 2 * wordBytes(LEFT_OUT);

/** The pieces of all messages, what is to go last first. */
function byImportance(messages: readonly string[]): readonly Piece[] {
  const pieces = messages.flatMap(piecesOf);
  // Of equals, the first message and then the newest ones: what was asked, and what holds now.
  const rank = ({ message }: Piece): number => (message === 0 ? -messages.length : -message);
  return pieces.sort((a, b) => a.tier - b.tier || rank(a) - rank(b) || a.at - b.at);
}

const PIECE = /[^\n.!?。！？]*[\n.!?。！？]+[ \t\n]*|[^\n.!?。！？]+/g;

function piecesOf(text: string, message: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  // What opens with a tag was put there by a host, as a rule.
  const isTyped = text.length <= TYPED && !/^\s*<\w/.test(text);
  for (const [sentence] of text.slice(0, MAX_READ).matchAll(PIECE)) {
    const isTelling = TELLING.test(sentence);
    for (let start = 0; start < sentence.length;) {
      const end = wholeEnd(sentence, Math.min(sentence.length, start + MAX_PIECE));
      const part = sentence.slice(start, end);
      pieces.push({ message, at, text: part, tier: tierOf(isTyped, isTelling, at < HEAD) });
      at += part.length;
      start = end;
    }
  }
  return pieces;
}

function tierOf(isTyped: boolean, isTelling: boolean, isHead: boolean): number {
  if (isTyped) return isTelling ? 0 : isHead ? 1 : 3;
  return isTelling || isHead ? 2 : 4;
}

/** The nearest index that does not split a character. */
function wholeEnd(text: string, index: number): number {
  const code = text.charCodeAt(index - 1);
  const isSplit = index < text.length && code >= 0xd800 && code <= 0xdbff;
  return isSplit ? index + 1 : index;
}

function joined(chosen: readonly Piece[], text: string): string {
  const pieces = chosen.toSorted((a, b) => a.at - b.at);
  let end = 0;
  let words = '';
  for (const piece of pieces) {
    words += piece.at > end ? LEFT_OUT + piece.text : piece.text;
    end = piece.at + piece.text.length;
  }
  return end < text.length ? words + LEFT_OUT : words;
}

/** Returns the line that quotes a text. */
export function lineOf(text: string): string {
  const json = JSON.stringify(text).replace(
    OTHER_LINE_ENDS,
    (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return DASH + json;
}

/** UTF-8 bytes of the line that quotes a text, with its line feed. */
export function lineBytes(text: string): number {
  return Buffer.byteLength(lineOf(text)) + 1;
}

/** Returns the text that a line quotes, or `undefined` for one that quotes none. */
export function quotedIn(line: string): string | undefined {
  if (!line.startsWith(`${DASH}"`)) return undefined;
  const value = tryParseJson(line.slice(DASH.length));
  return typeof value === 'string' ? value : undefined;
}
