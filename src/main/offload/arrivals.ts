// Matches token counts that arrive from workers with the callers that wait for them.

import type { IContent } from '../../shared/content.js';

interface Wait {
  readonly contents: readonly IContent[];
  /** All entries before this index have arrived. */
  arrived: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Token counts that were requested from workers, and the callers that wait for them. */
export class Arrivals {
  /** By entry whose count is expected, the waits that wait for it next, so that an arrival touches only those that it advances. */
  readonly #expected: Map<IContent, Wait[]> = new Map();
  /** Held weakly: a count is useless once its entry is gone. */
  readonly #tokens: WeakMap<IContent, number> = new WeakMap();

  /** Notes entries that were sent to be counted. */
  expect(contents: readonly IContent[]): void {
    for (const content of contents)
      if (!this.#expected.has(content)) this.#expected.set(content, []);
  }

  /** Whether an entry's count has arrived or is expected. */
  knows(content: IContent): boolean {
    return this.#expected.has(content) || this.#tokens.has(content);
  }

  /** Notes arrived counts, one per entry. */
  arrive(contents: readonly IContent[], tokens: Int32Array): void {
    const reached: Wait[] = [];
    for (const [at, content] of contents.entries()) {
      const waits = this.#expected.get(content);
      if (waits === undefined) continue;
      this.#expected.delete(content);
      this.#tokens.set(content, tokens[at] ?? 0);
      reached.push(...waits);
    }
    for (const wait of reached) this.#goOn(wait);
  }

  /** Rejects all waits, because the expected counts will not arrive. */
  fail(error: Error): void {
    const waits = [...this.#expected.values()].flat();
    this.#expected.clear();
    for (const { reject } of waits) reject(error);
  }

  /** Resolves to the tokens of known entries, once all of them have arrived. */
  async take(contents: readonly IContent[]): Promise<readonly number[]> {
    await new Promise<void>((resolve, reject) => {
      this.#goOn({ contents, arrived: 0, resolve, reject });
    });
    return contents.map((content) => this.#tokens.get(content) ?? 0);
  }

  #goOn(wait: Wait): void {
    for (; wait.arrived < wait.contents.length; wait.arrived += 1) {
      const waits = this.#expected.get(wait.contents[wait.arrived] as IContent);
      if (waits === undefined) continue;
      waits.push(wait);
      return;
    }
    wait.resolve();
  }
}
