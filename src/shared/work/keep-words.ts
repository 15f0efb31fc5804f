// Reduces the user's messages to a budget: all of them if they fit, else their most important sentences, verbatim.
// Prohibitions and corrections are dropped last. Also quotes texts as lines. Pure.

import { tryParseJson } from '../json.js';
import { surrogateSafe } from '../shown-text.js';

/** The mark of a gap of this many UTF-16 units. The number preserves the message's original length for the next reduction. */
const leftOut = (units: number): string => `[…${units}…] `;

/** The messages, reduced, in order. */
export interface KeptWords {
  readonly words: readonly string[];
  /** Number of messages that were dropped completely. */
  readonly lost: number;
}

/** Words of prohibitions and corrections in a few languages. They only affect the order in which pieces are dropped. */
const PROHIBITION_OR_CORRECTION = new RegExp(
  [
    String.raw`\b(?:\w{1,9}n['’]t|dont|not|no|cannot|never|must|stop|skip|instead|wrong|actually|rather|only|always|undo|revert|without|avoid|should|except|leave|keep|forbidden|forget|ensure|make sure|require[sd]?|important|deadline|wait,)(?!\w)`,
    String.raw`\b(?:nicht|nie|niemals|kein\w*|stattdessen|falsch|sondern|nur|immer|ohne|lass|muss|müssen|darf|dürfen|soll|sollen|unbedingt)\b`,
    String.raw`\b(?:pas|jamais|rien|aucune?|plutôt|seulement|toujours|sans|doit|faut|nunca|siempre|solo|sin|debe|en vez|não|sempre|apenas|deve|non|mai|invece|senza)\b`,
    String.raw`(?<!\p{L})(?:не|нет|нельзя|никогда|вместо|только|всегда|без|запрещ\p{L}*|لا|ممنوع|يجب|فقط|ليس|أبدا|دون|لم|לא|אל|אסור|רק|मत|नहीं|कभी)(?!\p{L})`,
    '不[要能得准许許可是用应應该該]|勿|别|禁止|只[能用]|必须|必須|务必|務必|应该|應該|ないで|ないこと|いけ[なま]|[うくぐすつぬぶむる]な(?=[。！!\\s]|$)|ではなく|必ず|だけ|のみ|절대|반드시|금지|대신|지 ?마(?!다)|말 ?것',
  ].join('|'),
  'iu',
);

const DASH = '- ';
/** Characters that JSON does not escape but some readers treat as line breaks. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g;

// All in UTF-16 units.
/** How far two parts of a message's beginning reach: the opening, which says what it is about, and the head, which continues it. */
const OPENING = 200;
const HEAD = 600;
/** Longer messages were probably pasted, not typed. */
const TYPED = 4_000;
const MAX_PIECE = 400;
/** Only this much of a longer message is read. */
const MAX_READ = 200_000;

/** A sentence or line of a message, or a part of a long sentence; or a gap left by an earlier reduction. */
interface Piece {
  readonly message: number;
  /** Its index among the pieces of the message. */
  readonly at: number;
  readonly text: string;
  /** Pieces with a high tier are dropped first, those with 0 last. `Infinity` for a gap. */
  readonly tier: number;
  /** UTF-16 units of the original message that it stands for. */
  readonly units: number;
}

/**
 * Reduces messages to a budget.
 *
 * @param budget UTF-8 bytes of all their lines, including line feeds
 */
export function keepWords(messages: readonly string[], budget: number): KeptWords {
  if (bytesOfLines(messages) <= budget) return { words: messages, lost: 0 };
  const pieces = messages.map(piecesOf);
  const marks = messages.map((text) => wordBytes(leftOut(unitsIn(text))));
  const kept = messages.map(() => new Set<number>());
  let left = budget;
  for (const piece of byImportance(pieces)) {
    const { message, at, text } = piece;
    const all = pieces[message] ?? [];
    const chosen = kept[message] ?? new Set();
    // Each piece splits a gap in two, shortens it or closes it, which adds or removes gap marks.
    const isGapBefore = at > 0 && !chosen.has(at - 1);
    const isGapBehind = at < all.length - 1 && !chosen.has(at + 1);
    const isFirst = chosen.size === 0;
    const more = Number(isGapBefore) + Number(isGapBehind) - Number(!isFirst);
    const bytes = wordBytes(text) + more * (marks[message] ?? 0) + (isFirst ? EMPTY_LINE : 0);
    if (bytes > left) continue;
    left -= bytes;
    chosen.add(at);
  }
  const words = pieces.flatMap((all, message) => {
    const chosen = kept[message];
    return chosen === undefined || chosen.size === 0 ? [] : joinPieces(all, chosen);
  });
  return { words, lost: messages.length - words.length };
}

const EMPTY_LINE = lineBytes('');
const wordBytes = (text: string): number => lineBytes(text) - EMPTY_LINE;

/** The pieces of all messages, most important first. */
function byImportance(pieces: readonly (readonly Piece[])[]): readonly Piece[] {
  // Within a tier: first the first message, which states the task, then from the newest message back.
  const rank = ({ message }: Piece): number => (message === 0 ? -pieces.length : -message);
  return pieces
    .flat()
    .filter(({ tier }) => tier < Infinity)
    .sort((a, b) => a.tier - b.tier || rank(a) - rank(b) || a.at - b.at);
}

/** A gap mark, or the end of a sentence. A dot inside a word (as in a file name) or after a list number ends no sentence. */
const BREAK =
  /\[…(\d{1,9})…\] |(?:\n|[。！？।؟]+|(?<!(?:^|\n)[ \t]{0,8}\d{1,3})[.!?]["'”’»)\]]?(?=\s|$))[ \t\n]*/g;
/** A list item. */
const ITEM = /^[ \t]*(?:[-*•]|\d{1,3}[.)])\s/;

function piecesOf(text: string, message: number): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let start = 0;
  // A message that starts with a tag was usually inserted by a host.
  const isTyped = unitsIn(text) <= TYPED && !/^\s*<\w/.test(text);
  const add = (piece: string, tier: number, units: number): void => {
    pieces.push({ message, at: pieces.length, text: piece, tier, units });
    start += units;
  };
  const addSentence = (to: number): void => {
    const sentence = text.slice(from, to);
    const isImportant = PROHIBITION_OR_CORRECTION.test(sentence);
    const isItem = ITEM.test(sentence);
    while (from < to) {
      const end = surrogateSafe(text, Math.min(to, from + MAX_PIECE));
      add(text.slice(from, end), tierOf(isTyped, isImportant, isItem ? 0 : start), end - from);
      from = end;
    }
  };
  const read = text.slice(0, MAX_READ);
  for (const { 0: ending, 1: units, index } of read.matchAll(BREAK)) {
    const end = index + ending.length;
    addSentence(units === undefined ? end : index);
    if (units !== undefined) add('', Infinity, Number(units));
    from = end;
  }
  addSentence(read.length);
  if (text.length > read.length) add('', Infinity, text.length - read.length);
  return pieces;
}

/** UTF-16 units of a message before any reduction. */
function unitsIn(text: string): number {
  let units = text.length;
  for (const [mark, left] of text.matchAll(BREAK)) {
    if (left !== undefined) units += Number(left) - mark.length;
  }
  return units;
}

/** @param start UTF-16 offset of the piece in the original message; 0 for a list item, so that every item counts as opening */
function tierOf(isTyped: boolean, isImportant: boolean, start: number): number {
  const isHead = start < HEAD;
  if (!isTyped) return isImportant || isHead ? 3 : 5;
  if (isImportant) return 0;
  return start < OPENING ? 1 : isHead ? 2 : 4;
}

function joinPieces(pieces: readonly Piece[], chosen: ReadonlySet<number>): string {
  let words = '';
  let gap = 0;
  for (const { at, text, units } of pieces) {
    if (!chosen.has(at)) {
      gap += units;
      continue;
    }
    words += gap > 0 ? leftOut(gap) + text : text;
    gap = 0;
  }
  return gap > 0 ? words + leftOut(gap) : words;
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
