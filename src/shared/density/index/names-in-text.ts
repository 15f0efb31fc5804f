// Extracts the paths and names that characterize a text, in one loop that slices only what it
// returns: resuming an edited history runs it on every pruned result.

/** Limits in UTF-16 units. Longer texts and lines are encoded or minified. */
export const MAX_SEEN = 65_536;
const MAX_LINE_LENGTH = 1_000;
/**
 * Backslashes in front of a letter that JSON does not escape. One: the text is no JSON, and a backslash with an `n` begins the name of a
 * folder, as on Windows. Two: the text is in JSON, and two backslashes with an `n` begin one.
 */
const FOLDER = /(?<!\\)(\\{1,2})[ac-eg-mo-qswyzA-Z]/;
/** Line breaks, also escaped ones as in JSON, by the number of backslashes in front of folders. */
const LINE_BREAKS = [/\r?\n|\\n/, /\r?\n/, /\r?\n|(?<!\\)\\n/] as const;

/** Character classes. Plain lower-case words and numbers are not names. */
const [LETTER, CAPITAL, SIGN, SEPARATOR, ODD] = [1, 2, 4, 8, 16];
/** By UTF-16 unit, its class; 0 for units outside paths and names. */
const KINDS = kindsOf({
  abcdefghijklmnopqrstuvwxyz: LETTER,
  ABCDEFGHIJKLMNOPQRSTUVWXYZ: LETTER | CAPITAL,
  '0123456789_$': SIGN,
  // Names neither start nor end with these.
  '.-': SIGN | ODD,
  // These separate names within a word.
  '@~/\\+': SEPARATOR,
});
/** Letters of alphabets, with accents. Scripts without spaces between words are left out: their text would belong to the names in it. */
KINDS.fill(LETTER, 0xc0, 0x530);
KINDS.fill(LETTER, 0x1e00, 0x2000);
const PERCENT = 37;
const EQUALS = 61;
const DOT = 46;
const SLASH = 47;
const COLON = 58;
const BACKSLASH = 92;
const MAX_WORD_LENGTH = 120;
/** Maximum share of the length for paths; the rest is for other names. */
const PATHS_PART = 0.5;
/** The longest file extension. */
const MAX_SUFFIX_LENGTH = 4;
const MIN_NAME_LENGTH = 5;
const MAX_NAME_LENGTH = 80;

/** The lines of a text that are searched. */
export function seenLines(text: string): readonly string[] {
  const seen = text.slice(0, MAX_SEEN);
  const isPlain = !seen.includes('\r') && !seen.includes('\\');
  const lines = seen.split(isPlain ? '\n' : LINE_BREAKS[folderSigns(seen)]);
  return lines.filter(({ length }) => length <= MAX_LINE_LENGTH);
}

function folderSigns(seen: string): 0 | 1 | 2 {
  const signs = FOLDER.exec(seen)?.[1];
  return signs === undefined ? 0 : signs === '\\' ? 1 : 2;
}

/**
 * Returns the paths in order of appearance, then the most frequent names, short ones first: as many
 * as fit into `maxLength` UTF-16 units with a space each.
 */
export function namesIn(text: string, maxLength: number): readonly string[] {
  const names = new NameCounts(text);
  const chosen = new WordBudget(PATHS_PART * maxLength);
  collectWords(text, names, chosen);
  const paths = chosen.words;
  const taken = paths.join(' ');
  const rest = new WordBudget(maxLength - taken.length);
  names.takeLikeliest(rest, taken);
  return [...paths, ...rest.words];
}

/** Collects words within a length budget. */
class WordBudget {
  readonly words: string[] = [];
  #left: number;

  constructor(maxLength: number) {
    this.#left = maxLength;
  }

  hasRoom(length: number): boolean {
    return length + 1 <= this.#left;
  }

  add(word: string): void {
    this.#left -= word.length + 1;
    this.words.push(word);
  }
}

/**
 * Scratch buffer with the units of the current text: reading a typed array is far faster than
 * `charCodeAt`.
 */
const UNITS = new Uint16Array(MAX_SEEN);
const UNIT_BYTES = Buffer.from(UNITS.buffer);

function collectWords(text: string, names: NameCounts, paths: WordBudget): void {
  const seenEnd = Math.min(text.length, MAX_SEEN);
  UNIT_BYTES.write(text, 0, 2 * seenEnd, 'utf16le');
  let feed = nextBreak(text, '\n', 0, seenEnd);
  const signs = folderSigns(text.slice(0, seenEnd));
  let escaped = nextEscaped(text, signs, 0, seenEnd);
  for (let at = 0; at < seenEnd;) {
    const next = Math.min(escaped, feed);
    const hasReturn = feed < escaped && text[next - 1] === '\r';
    const end = hasReturn ? next - 1 : next;
    if (end - at <= MAX_LINE_LENGTH) collectWordsOfLine(text, at, end, names, paths);
    at = next + (escaped < feed ? 2 : 1);
    if (feed < at) feed = nextBreak(text, '\n', at, seenEnd);
    if (escaped < at) escaped = nextEscaped(text, signs, at, seenEnd);
  }
}

/** The next line break, or the end. */
function nextBreak(text: string, sign: string, from: number, end: number): number {
  const found = text.indexOf(sign, from);
  return found === -1 || found + sign.length > end ? end : found;
}

/** The next escaped line break, or the end. */
function nextEscaped(text: string, signs: 0 | 1 | 2, from: number, end: number): number {
  if (signs === 1) return end;
  let at = nextBreak(text, '\\n', from, end);
  while (signs === 2 && at < end && UNITS[at - 1] === BACKSLASH) {
    at = nextBreak(text, '\\n', at + 1, end);
  }
  return at;
}

/** Collects the words of a line that look like paths or names; most do not. */
function collectWordsOfLine(
  text: string,
  from: number,
  end: number,
  names: NameCounts,
  paths: WordBudget,
): void {
  for (let at = from; at < end; at += 1) {
    let kind = KINDS[UNITS[at] as number] as number;
    if (kind === 0) continue;
    if (UNITS[at - 1] === PERCENT && at > from && isHex(at) && isHex(at + 1)) {
      at += 1;
      continue;
    }
    const start = at;
    let seen = kind & ~CAPITAL;
    for (at += 1; at < end; at += 1) {
      kind = KINDS[UNITS[at] as number] as number;
      if (kind === 0) break;
      seen |= kind;
    }
    if (!isDistinctive(seen) || at - start > MAX_WORD_LENGTH) continue;
    if ((seen & (SEPARATOR | ODD)) === 0) {
      if (!isRef(text, start)) names.add(start, at);
      continue;
    }
    if ((seen & ODD) !== 0) addPath(text, start, at, paths);
    addParts(start, at, names);
  }
}

/**
 * Whether the word at `at` is the reference of a page element, as in `[ref=e42]`, which is useless once the page is gone. `ref=` without
 * the bracket may name a commit.
 */
function isRef(text: string, at: number): boolean {
  return UNITS[at - 1] === EQUALS && text.startsWith('[ref=', at - 5);
}

/** Whether the unit is an upper-case hex digit of a URL escape. Lower-case letters may start a name after a `%` wildcard. */
function isHex(at: number): boolean {
  const unit = UNITS[at] as number;
  return (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x46);
}

function addPath(text: string, from: number, to: number, paths: WordBudget): void {
  let end = to;
  // A backslash escapes the quote behind the word.
  while (UNITS[end - 1] === DOT || UNITS[end - 1] === BACKSLASH) end -= 1;
  const start = startOfPath(from);
  if (!paths.hasRoom(end - start) || !endsAsPath(start, end)) return;
  const path = text.slice(start, end);
  if (!paths.words.includes(path)) paths.add(path);
}

/** The start of the path that a word is, without `./` and with its drive. */
function startOfPath(word: number): number {
  const [first, second] = [UNITS[word], UNITS[word + 1]];
  if (first === DOT && (second === SLASH || second === BACKSLASH)) return word + 2;
  if (first !== BACKSLASH || word < 2 || UNITS[word - 1] !== COLON) return word;
  const isDrive = (kindAt(word - 2) & LETTER) !== 0 && (word === 2 || kindAt(word - 3) === 0);
  return isDrive ? word - 2 : word;
}

/** Whether the word ends in a file extension after a name. */
function endsAsPath(start: number, end: number): boolean {
  let at = end - 1;
  const first = Math.max(start, end - MAX_SUFFIX_LENGTH);
  while (at >= first && (kindAt(at) & LETTER) !== 0) at -= 1;
  if (at === end - 1 || at <= start || UNITS[at] !== DOT || UNITS[at - 1] === DOT) return false;
  return (kindAt(at - 1) & SEPARATOR) === 0;
}

/** Counts the names that a compound word consists of. */
function addParts(from: number, to: number, names: NameCounts): void {
  for (let at = from; at < to; at += 1) {
    let start = at;
    while (at < to && (kindAt(at) & SEPARATOR) === 0) at += 1;
    let end = at;
    while (start < end && (kindAt(start) & ODD) !== 0) start += 1;
    while (start < end && (kindAt(end - 1) & ODD) !== 0) end -= 1;
    let seen = kindAt(start) & ~CAPITAL;
    for (let place = start + 1; place < end; place += 1) seen |= kindAt(place);
    if (isDistinctive(seen)) names.add(start, end);
  }
}

/**
 * Whether it may be an identifier rather than a plain word: it has a digit, a sign or an inner
 * capital.
 */
function isDistinctive(seen: number): boolean {
  return (seen & LETTER) !== 0 && (seen & (SIGN | CAPITAL)) !== 0;
}

function kindAt(at: number): number {
  return KINDS[UNITS[at] as number] as number;
}

function kindsOf(kinds: Readonly<Record<string, number>>): Uint8Array {
  const units = new Uint8Array(2 ** 16);
  for (const [listed, kind] of Object.entries(kinds)) {
    for (let at = 0; at < listed.length; at += 1) units[listed.charCodeAt(at)] = kind;
  }
  return units;
}

/** Versions, small numbers, durations, timestamps and file modes: outputs are full of them, and nobody looks them up. */
const QUANTITY =
  /^v?\d+(?:\.\d+)+[A-Za-z]{0,2}$|^\d+(?:\.\d+)?e-\d+$|^(?:\d+(?:ms|[dhms]))+$|^\d{4}-\d{2}-\d{2}T[\d.-]*Z?$|^[dlrwxst-]*r[w-][xst-]?[rwxst-]*$/;

/** Scores that differ by less than one step are equal. */
const SCORE_STEPS = 2 ** 20;

/** Counts names in a text. */
class NameCounts {
  readonly #text: string;
  readonly #counts = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Counts the name in this range if its length is right. */
  add(start: number, end: number): void {
    if (end - start < MIN_NAME_LENGTH || end - start > MAX_NAME_LENGTH) return;
    const name = this.#text.slice(start, end);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Takes names by score, ties in order of appearance, skipping those contained in `taken`. */
  takeLikeliest(fitting: WordBudget, taken: string): void {
    const scored = Array.from(this.#counts, ([name, count]) => ({
      name,
      score: Math.round((count / Math.sqrt(name.length)) * SCORE_STEPS),
    }));
    for (const { name } of scored.sort((a, b) => b.score - a.score)) {
      if (!fitting.hasRoom(MIN_NAME_LENGTH)) return;
      if (!fitting.hasRoom(name.length) || taken.includes(name) || QUANTITY.test(name)) continue;
      fitting.add(name);
    }
  }
}
