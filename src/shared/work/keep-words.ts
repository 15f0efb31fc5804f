// Reduces the user's messages to a budget: whole messages if they fit, else their most important sentences, verbatim.
// Prohibitions and corrections are dropped last. Also quotes texts as lines. Pure.

import { tryParseJson } from '../json.js';
import { pushTo } from '../lists-by-key.js';
import { surrogateSafe } from '../shown-text.js';

/** Marks omitted parts of a message. */
export const LEFT_OUT = ' […] ';

/** The messages, reduced, in order. */
export interface KeptWords {
  readonly said: readonly string[];
  /** Number of messages that were dropped completely. */
  readonly lost: number;
}

/** Words of prohibitions and corrections in a few languages. They only affect the order in which pieces are dropped. */
const TELLING = new RegExp(
  [
    String.raw`\b(?:don['’]?t|do not|never|must(?:n['’]t| not)?|stop|instead|wrong|actually|rather than|only|always|undo|revert|without|avoid|should(?:n['’]t| not)|not what|except|leave|keep|forbidden|no,|wait,)(?!\w)`,
    String.raw`\b(?:nicht|nie|niemals|kein\w*|stattdessen|falsch|sondern|nur|immer|ohne|lass)\b`,
    String.raw`\b(?:ne pas|jamais|plutôt|seulement|sans|nunca|siempre|solo|sin|no lo|en vez|não|sempre|apenas|non|mai|invece|senza)\b`,
    String.raw`(?<!\p{L})(?:не|нет|нельзя|никогда|вместо|только|всегда|без|لا|ليس|أبدا|دون|لم|לא|אל|אסור|רק|मत|नहीं|कभी)(?!\p{L})`,
    '不要|别|不能|禁止|必须|而不是|しないで|ではなく|必ず|하지 마|절대',
  ].join('|'),
  'iu',
);

const DASH = '- ';
/** Characters that JSON does not escape but some readers treat as line breaks. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

// All in UTF-16 units.
/** Length of a message's beginning. */
const HEAD = 600;
/** Longer messages were probably pasted, not typed. */
const TYPED = 4_000;
const MAX_PIECE = 400;
/** Only this much of a longer message is read. */
const MAX_READ = 200_000;

/** A sentence or line of a message, or a part of a long sentence. */
interface Piece {
  readonly message: number;
  readonly at: number;
  readonly text: string;
  /** 0 for what is dropped last. */
  readonly tier: number;
}

/**
 * Reduces messages to a budget.
 *
 * @param budget UTF-8 bytes of all their lines, including line feeds
 */
export function keepWords(messages: readonly string[], budget: number): KeptWords {
  if (bytesOfLines(messages) <= budget) return { said: messages, lost: 0 };
  const kept = new Map<number, Piece[]>();
  let left = budget;
  for (const piece of byImportance(messages)) {
    // The first piece of a message pays for its line, and each piece for the omission marks around it.
    const bytes = wordBytes(piece.text) + MARKS + (kept.has(piece.message) ? 0 : EMPTY_LINE);
    if (bytes > left) continue;
    left -= bytes;
    pushTo(kept, piece.message, piece);
  }
  const said = messages.flatMap((text, message) => {
    const pieces = kept.get(message);
    return pieces === undefined ? [] : joinPieces(pieces, text);
  });
  return { said, lost: messages.length - said.length };
}

const EMPTY_LINE = lineBytes('');
const wordBytes = (text: string): number => lineBytes(text) - EMPTY_LINE;
const MARKS = 2 * wordBytes(LEFT_OUT);

/** The pieces of all messages, most important first. */
function byImportance(messages: readonly string[]): readonly Piece[] {
  const pieces = messages.flatMap(piecesOf);
  // Within a tier, the first message, which has the task, then the newest ones.
  const rank = ({ message }: Piece): number => (message === 0 ? -messages.length : -message);
  return pieces.sort((a, b) => a.tier - b.tier || rank(a) - rank(b) || a.at - b.at);
}

const PIECE = /[^\n.!?。！？]*[\n.!?。！？]+[ \t\n]*|[^\n.!?。！？]+/g;

function piecesOf(text: string, message: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  // A message that starts with a tag was usually inserted by a host.
  const isTyped = text.length <= TYPED && !/^\s*<\w/.test(text);
  for (const [sentence] of text.slice(0, MAX_READ).matchAll(PIECE)) {
    const isTelling = TELLING.test(sentence);
    for (let start = 0; start < sentence.length;) {
      const end = surrogateSafe(sentence, Math.min(sentence.length, start + MAX_PIECE));
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

function joinPieces(chosen: readonly Piece[], text: string): string {
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

/** UTF-8 bytes of the line that quotes a text, including its line feed. */
export function lineBytes(text: string): number {
  return Buffer.byteLength(lineOf(text)) + 1;
}

/** UTF-8 bytes of the lines that quote texts. */
export function bytesOfLines(texts: Iterable<string>): number {
  let bytes = 0;
  for (const text of texts) bytes += lineBytes(text);
  return bytes;
}

/** Returns the text that a line quotes, or `undefined` if it is not a quoting line. */
export function quotedIn(line: string): string | undefined {
  if (!line.startsWith(`${DASH}"`)) return undefined;
  const value = tryParseJson(line.slice(DASH.length));
  return typeof value === 'string' ? value : undefined;
}
