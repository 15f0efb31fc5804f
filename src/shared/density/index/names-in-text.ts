// The paths and names that tell what was in a text. One loop that cuts out what it returns and nothing else: whoever takes up a
// history that was edited reads all results again that have left it. Knows nothing of results and placeholders.

/** UTF-16 units of a text that are looked at, and of a line: nobody reads longer ones, which are encoded or minified. */
const MAX_SEEN = 65_536;
const MAX_LINE_LENGTH = 1_000;
/** Also as JSON has them. */
const LINE_BREAK = /\r?\n|\\n/;

/** What a word is told by: one of small letters is no name, nor is one of digits alone. */
const [LETTER, CAPITAL, SIGN, SEPARATOR, ODD] = [1, 2, 4, 8, 16];
/** By character: what it tells; 0 for what stands in no path and no name. */
const CHARACTERS = charactersOf({
  abcdefghijklmnopqrstuvwxyz: LETTER,
  ABCDEFGHIJKLMNOPQRSTUVWXYZ: LETTER | CAPITAL,
  '0123456789_$': SIGN,
  // Names neither begin nor end with one of them.
  '.-': SIGN | ODD,
  // These part names within a word.
  '@~/+': SEPARATOR,
});
const MAX_WORD_LENGTH = 120;
/** Paths take at most this part of the names, as long as there are others. */
const PATHS_PART = 0.5;
/** A path has a suffix, which stands in so many units at its end. */
const PATH = /[\w$-]\.[A-Za-z]{1,4}$/;
const MAX_PATH_END = 6;
/** A path has at least so many, as `a.c`: nothing that is worth a place is shorter. */
const MIN_LENGTH = 3;
const MIN_NAME_LENGTH = 5;
const MAX_NAME_LENGTH = 80;

/** The lines of a text that are looked at. */
export function seenLines(text: string): readonly string[] {
  const lines = text.slice(0, MAX_SEEN).split(LINE_BREAK);
  return lines.filter(({ length }) => length <= MAX_LINE_LENGTH);
}

/**
 * Returns the paths in the order in which they come, then the names that come most often, short ones first: as many as fit into
 * so many UTF-16 units with a space each.
 */
export function namesIn(text: string, maxLength: number): readonly string[] {
  const names = new NameCounts(text);
  const chosen = new Fitting(PATHS_PART * maxLength);
  lookForWords(text, names, chosen);
  const paths = chosen.words;
  const taken = paths.join(' ');
  const rest = new Fitting(maxLength - taken.length);
  names.takeLikeliest(rest, taken);
  return [...paths, ...rest.words];
}

/** Words that fit into so many units, the first ones first. */
class Fitting {
  readonly words: string[] = [];
  #left: number;

  constructor(maxLength: number) {
    this.#left = maxLength;
  }

  get isFull(): boolean {
    return this.#left <= MIN_LENGTH;
  }

  /** Whether there is room for a word of that length. */
  hasRoom(length: number): boolean {
    return length + 1 <= this.#left;
  }

  add(word: string): void {
    this.#left -= word.length + 1;
    this.words.push(word);
  }
}

function lookForWords(text: string, names: NameCounts, paths: Fitting): void {
  const seenEnd = Math.min(text.length, MAX_SEEN);
  let feed = breakFrom(text, '\n', 0, seenEnd);
  let escaped = breakFrom(text, '\\n', 0, seenEnd);
  for (let at = 0; at < seenEnd;) {
    const next = Math.min(escaped, feed);
    const hasReturn = feed < escaped && next > at && text[next - 1] === '\r';
    const end = hasReturn ? next - 1 : next;
    if (end - at <= MAX_LINE_LENGTH) lookForWordsIn(text, at, end, names, paths);
    at = next + (escaped < feed ? 2 : 1);
    if (feed < at) feed = breakFrom(text, '\n', at, seenEnd);
    if (escaped < at) escaped = breakFrom(text, '\\n', at, seenEnd);
  }
}

/** Where a line ends next, or the end of what is looked at. */
function breakFrom(text: string, sign: string, from: number, end: number): number {
  const found = text.indexOf(sign, from);
  return found === -1 || found + sign.length > end ? end : found;
}

/** Looks for the words of a line that may be paths or names: most are neither. */
function lookForWordsIn(
  text: string,
  from: number,
  end: number,
  names: NameCounts,
  paths: Fitting,
): void {
  for (let at = from; at < end; at += 1) {
    let kind = kindOf(text.charCodeAt(at));
    if (kind === 0) continue;
    const start = at;
    let seen = kind & ~CAPITAL;
    for (at += 1; at < end; at += 1) {
      kind = kindOf(text.charCodeAt(at));
      if (kind === 0) break;
      seen |= kind;
    }
    if (!mayBeTelling(seen) || at - start > MAX_WORD_LENGTH) continue;
    if ((seen & (SEPARATOR | ODD)) === 0) {
      names.add(start, at);
      continue;
    }
    if ((seen & ODD) !== 0 && !paths.isFull) addPath(text.slice(start, at), paths);
    addParts(text, start, at, names);
  }
}

function addPath(word: string, paths: Fitting): void {
  let end = word.length;
  while (end > 0 && word[end - 1] === '.') end -= 1;
  const path = word.slice(word.startsWith('./') ? 2 : 0, end);
  if (!paths.hasRoom(path.length) || !PATH.test(path.slice(-MAX_PATH_END))) return;
  if (!paths.words.includes(path)) paths.add(path);
}

/** Counts the names of which a word consists. */
function addParts(text: string, from: number, to: number, names: NameCounts): void {
  for (let at = from; at < to; at += 1) {
    let start = at;
    while (at < to && (kindOf(text.charCodeAt(at)) & SEPARATOR) === 0) at += 1;
    let end = at;
    while (start < end && (kindOf(text.charCodeAt(start)) & ODD) !== 0) start += 1;
    while (start < end && (kindOf(text.charCodeAt(end - 1)) & ODD) !== 0) end -= 1;
    let seen = start < end ? kindOf(text.charCodeAt(start)) & ~CAPITAL : 0;
    for (let place = start + 1; place < end; place += 1) seen |= kindOf(text.charCodeAt(place));
    if (mayBeTelling(seen)) names.add(start, end);
  }
}

/** Whether it may be a name of a program and not a word of a language: with a digit, a sign or a capital behind its start. */
function mayBeTelling(seen: number): boolean {
  return (seen & LETTER) !== 0 && (seen & (SIGN | CAPITAL)) !== 0;
}

function kindOf(code: number): number {
  return code < CHARACTERS.length ? (CHARACTERS[code] as number) : 0;
}

function charactersOf(kinds: Readonly<Record<string, number>>): Uint8Array {
  const characters = new Uint8Array(128);
  for (const [listed, kind] of Object.entries(kinds)) {
    for (let at = 0; at < listed.length; at += 1) characters[listed.charCodeAt(at)] = kind;
  }
  return characters;
}

/** No two names of what is looked at begin nearer to each other. */
const MAX_NAMES = Math.ceil(MAX_SEEN / MIN_NAME_LENGTH);
/** Columns of the one text that is being looked at: where each name begins first, its length, how often it comes. */
const STARTS = new Int32Array(MAX_NAMES);
const LENGTHS = new Int32Array(MAX_NAMES);
const COUNTS = new Int32Array(MAX_NAMES);
/** The one before each of the same count and length, and 1. */
const FORMER = new Uint16Array(MAX_NAMES);
/** By count and length, the number of the last name that has them, and 1: of most names the count is below this one. */
const LAST = new Uint16Array(16 * 2 ** 7);
/** By hash of a name, its number and 1: open addressing, in so many of the slots as the text is long. */
const SLOTS = new Uint16Array(2 ** 15);

/** How often each name comes in a text. One at a time: all of them share their columns. */
class NameCounts {
  readonly #text: string;
  readonly #mask: number;
  #length = 0;

  constructor(text: string) {
    this.#text = text;
    const most = Math.min(text.length, MAX_SEEN) / MIN_NAME_LENGTH;
    let slots = 64;
    while (slots < 2 * most) slots *= 2;
    this.#mask = slots - 1;
    SLOTS.fill(0, 0, slots);
  }

  /** Counts what stands at a place of the text, when it has the length of a name. */
  add(start: number, end: number): void {
    const length = end - start;
    if (length < MIN_NAME_LENGTH || length > MAX_NAME_LENGTH) return;
    const text = this.#text;
    let hash = length;
    for (let at = start; at < end; at += 1)
      hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
    for (let slot = hash ^ (hash >>> 15); ; slot += 1) {
      const number = (SLOTS[slot & this.#mask] as number) - 1;
      if (number === -1) {
        STARTS[this.#length] = start;
        LENGTHS[this.#length] = length;
        COUNTS[this.#length] = 1;
        this.#length += 1;
        SLOTS[slot & this.#mask] = this.#length;
        return;
      }
      if (LENGTHS[number] === length && this.#isSame(STARTS[number] as number, start, length)) {
        COUNTS[number] = (COUNTS[number] as number) + 1;
        return;
      }
    }
  }

  #isSame(a: number, b: number, length: number): boolean {
    const text = this.#text;
    let at = 0;
    while (at < length && text.charCodeAt(a + at) === text.charCodeAt(b + at)) at += 1;
    return at === length;
  }

  /** Takes the names by their score, in their order those of which it is the same, but those that stand in a text. */
  takeLikeliest(fitting: Fitting, taken: string): void {
    const byScore = this.#byScore();
    for (const score of [...byScore.keys()].sort(ascending).reverse()) {
      for (const number of byScore.get(score) ?? []) {
        const [start, length] = [STARTS[number] as number, LENGTHS[number] as number];
        if (!fitting.hasRoom(length)) continue;
        const name = this.#text.slice(start, start + length);
        if (!taken.includes(name)) fitting.add(name);
      }
      if (!fitting.hasRoom(MIN_NAME_LENGTH)) return;
    }
  }

  #byScore(): ReadonlyMap<number, readonly number[]> {
    LAST.fill(0);
    const more = new Map<number, number>();
    const groups: number[] = [];
    for (let number = 0; number < this.#length; number += 1) {
      const group = (COUNTS[number] as number) * 2 ** 7 + (LENGTHS[number] as number);
      const former = LAST[group] ?? more.get(group) ?? 0;
      FORMER[number] = former;
      if (former === 0) groups.push(group);
      if (group < LAST.length) LAST[group] = number + 1;
      else more.set(group, number + 1);
    }
    const byScore = new Map<number, number[]>();
    for (const group of groups) {
      const numbers = byScore.get((group >>> 7) / Math.sqrt(group & 0x7f)) ?? [];
      byScore.set((group >>> 7) / Math.sqrt(group & 0x7f), numbers);
      let last = LAST[group] ?? more.get(group) ?? 0;
      for (; last > 0; last = FORMER[last - 1] as number) numbers.push(last - 1);
      numbers.sort(ascending);
    }
    return byScore;
  }
}

function ascending(a: number, b: number): number {
  return a - b;
}
