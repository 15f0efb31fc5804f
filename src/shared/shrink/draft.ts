// A text on its way through the chain of shrinkers, as a whole or line by line: it is split once for all who want lines,
// and joined once. Changes nothing.

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
