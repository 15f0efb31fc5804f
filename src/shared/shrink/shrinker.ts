// The interface of shrinkers: pure functions that shorten a tool result before it is first sent. `shrink-text.ts` lists and runs
// the shrinkers.

/** How far results are shrunk, mildest first. */
export const SHRINK_LEVELS = ['lossless', 'default', 'strong'] as const;

/**
 * How far results are shrunk. `lossless`: removes nothing that an agent could use. `default`: also removes content that is hardly
 * ever read. `strong`: the same with lower thresholds.
 */
export type ShrinkLevel = (typeof SHRINK_LEVELS)[number];

/** The purpose of a call, according to the tool catalog and its command. */
export type ShrinkPurpose = 'search' | 'command' | 'unknown';

/** The context in which a shrinker runs. */
export interface ShrinkSubject {
  readonly purpose: ShrinkPurpose;
  /** The command that was run; empty for other calls. */
  readonly command: string;
  readonly level: ShrinkLevel;
  /** Lines of the original result that happen to look like our notes about removed content. @default none */
  readonly lookalikes?: ReadonlySet<string>;
}

/** The name of a shrinker, by which it is turned on or off. */
export type ShrinkerName =
  | 'shownBefore'
  | 'lineNumbers'
  | 'terminalCodes'
  | 'jsonTables'
  | 'likeLines'
  | 'failuresFirst'
  | 'grouping'
  | 'blobs';

/** One way to make a result smaller. It runs on a worker, once per result. */
export interface Shrinker {
  readonly name: ShrinkerName;
  /** What the shrinker removes, in a few words. The model reads it in the last line of a shrunk result. */
  readonly label: string;
  /** The mildest level at which the shrinker runs by default. */
  readonly from: ShrinkLevel;
  /** Returns the shrunk text, or `undefined` if there is nothing to remove. Pure; linear in the text's length. */
  shrink(draft: Draft, subject: ShrinkSubject): Draft | undefined;
  /** Whether the output is data with the same values. Later shrinkers must not change it. */
  readonly keepsValues?: boolean;
  /** Whether all text that an edit might have to quote is kept. Only such shrinkers run on the text of files. */
  readonly keepsText?: boolean;
}

/** Returns the note that replaces removed content. */
export function leftOut(what: string): string {
  return `[… ${what} left out …]`;
}

/** Whether a line has the form of a note about removed content, as `leftOut` makes it. */
export function saysLeftOut(line: string): boolean {
  return line.startsWith('[… ') && line.endsWith(' …]');
}

/**
 * Returns how many lines of the original text these lines of its draft stand for. A note about removed lines stands for as many as
 * it names; a lookalike in the original stands for itself.
 */
export function countBehind(
  lines: readonly string[],
  { lookalikes }: Pick<ShrinkSubject, 'lookalikes'>,
): number {
  let count = 0;
  for (const line of lines) {
    const counted = lookalikes?.has(line) === true ? undefined : COUNTED.exec(line)?.[1];
    count += Number(counted ?? 1);
  }
  return count;
}

/** Matches a note about lines and captures their number. */
const COUNTED = /^\[… (?:the same line )?(\d{1,9}) (?:lines? |more ).* …\]$/;

/** Whether a line is about a failure. Shrinkers keep such lines. */
export function mentionsFailure(line: string): boolean {
  const start = line.slice(0, MAX_SCANNED_OF_LINE);
  return FAILURE.test(start) && FAILURE.test(start.replace(NO_FAILURES, ''));
}

/** UTF-16 units at the start of a line that are searched for words of failure or warning. */
export const MAX_SCANNED_OF_LINE = 400;
const FAILURE =
  /\b(?:errors?|fail(?:s|ed|ures?|ing)?|exceptions?|panic(?:ked)?|assert\w*|traceback|fatal|cannot|denied|undefined|unexpected|not found)\b|(?:^|\s)(?:✗|✕|×|not ok)(?=\s)|Error\b/i;

/** Matches a count of zero failures, such as `0 errors` or `failed: 0`. Test runners print it for every class of tests that passed. */
const NO_FAILURES =
  /(?<![\d.,])0 (?:failed|failing|failures?|errors?)\b|\b(?:failed|failures?|errors?) {0,2}[:=] {0,6}0\b(?![.:]\d)/gi;

/** A text and its lines; each is computed lazily from the other. */
export class Draft {
  #text: string | undefined;
  #lines: readonly string[] | undefined;

  private constructor(text: string | undefined, lines: readonly string[] | undefined) {
    this.#text = text;
    this.#lines = lines;
  }

  static ofText(text: string): Draft {
    return new Draft(text, undefined);
  }

  static ofLines(lines: readonly string[]): Draft {
    return new Draft(undefined, lines);
  }

  get text(): string {
    this.#text ??= this.#lines?.join('\n') ?? '';
    return this.#text;
  }

  get lines(): readonly string[] {
    this.#lines ??= this.text.split('\n');
    return this.#lines;
  }
}
