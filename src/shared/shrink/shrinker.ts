// What a shrinker is: a pure function that makes a result smaller before the model is sent it for the first time. Plain
// types and words; which shrinkers there are, and in which order they run, `shrink-text.ts` says.

/** How far results are shrunk, mildest first. */
export const SHRINK_LEVELS = ['lossless', 'default', 'strong'] as const;

/**
 * How far results are shrunk. `lossless`: nothing that an agent could use is gone. `default`: what nobody reads is gone
 * too. `strong`: more of that.
 */
export type ShrinkLevel = (typeof SHRINK_LEVELS)[number];

/** What the call of a result is for, as far as the catalog of tools and its command say so. */
export type ShrinkPurpose = 'search' | 'command' | 'unknown';

/** What a shrinker is told of a call. */
export interface ShrinkSubject {
  readonly purpose: ShrinkPurpose;
  /** The text of the command that was run; empty for all else. */
  readonly command: string;
  readonly level: ShrinkLevel;
}

/** A port: one way to make a result smaller. It runs on a worker, and once for each result. */
export interface Shrinker<Name extends string = string> {
  readonly name: Name;
  /** What it takes, in a word or two, as the model reads it. */
  readonly says: string;
  /** The mildest level at which it runs. */
  readonly from: ShrinkLevel;
  /**
   * Returns what it leaves of a text, or `undefined` when it has nothing to take. Pure; linear in the text, whatever that
   * holds.
   */
  shrink(draft: Draft, subject: ShrinkSubject): Draft | undefined;
  /** Whether what it leaves is data, of which the others take nothing. */
  readonly isFinal?: boolean;
  /** Whether it leaves all that an edit could have to spell: only such a one is given the text of a file. */
  readonly leavesText?: boolean;
}

/** What stands where a shrinker took something out. */
export function leftOut(what: string): string {
  return `[… ${what} left out …]`;
}

/** Whether a line tells of a failure: such lines stay. */
export function tellsFailure(line: string): boolean {
  return FAILURE.test(line.length > MAX_TELLING ? line.slice(0, MAX_TELLING) : line);
}

/** The start of a line says what it is about. */
const MAX_TELLING = 400;
const FAILURE =
  /\b(?:errors?|fail(?:s|ed|ures?|ing)?|exceptions?|panic(?:ked)?|assert\w*|traceback|fatal|cannot|denied|undefined|unexpected|not found)\b|(?:^|\s)(?:✗|✕|×|not ok)(?=\s)|Error\b/i;

/** A text and its lines, each made from the other when somebody asks for it. */
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
