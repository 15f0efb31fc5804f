// Entries on their way to where they are counted, and who waits for their counts.

import type { IContent } from '../../shared/content.js';

interface Wait {
  readonly contents: readonly IContent[];
  /** All entries before this one have arrived. */
  arrived: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Brings counts that arrive together with those who asked for them. */
export class Arrivals {
  readonly #expected: Set<IContent> = new Set();
  /** Held weakly: what nobody asks for is of no interest once its entry has gone. */
  readonly #tokens: WeakMap<IContent, number> = new WeakMap();
  #waits: Wait[] = [];

  /** Notes entries that were sent off. */
  expect(contents: readonly IContent[]): void {
    for (const content of contents) this.#expected.add(content);
  }

  /** Whether the count of an entry is here or under way. */
  knows(content: IContent): boolean {
    return this.#expected.has(content) || this.#tokens.has(content);
  }

  /** Notes counts that have come in, one per entry. */
  arrive(contents: readonly IContent[], tokens: Int32Array): void {
    for (const [at, content] of contents.entries()) {
      if (!this.#expected.delete(content)) continue;
      this.#tokens.set(content, tokens[at] ?? 0);
    }
    this.#waits = this.#waits.filter((wait) => !this.#isOver(wait));
  }

  /** Tells all who wait that what is under way will not arrive. */
  fail(error: Error): void {
    this.#expected.clear();
    for (const { reject } of this.#waits.splice(0)) reject(error);
  }

  /** Resolves to the tokens of entries that this knows, once all of them are here. */
  async take(contents: readonly IContent[]): Promise<readonly number[]> {
    await new Promise<void>((resolve, reject) => {
      const wait = { contents, arrived: 0, resolve, reject };
      if (!this.#isOver(wait)) this.#waits.push(wait);
    });
    return contents.map((content) => this.#tokens.get(content) ?? 0);
  }

  #isOver(wait: Wait): boolean {
    for (; wait.arrived < wait.contents.length; wait.arrived += 1) {
      const content = wait.contents[wait.arrived];
      if (content !== undefined && this.#expected.has(content)) return false;
    }
    wait.resolve();
    return true;
  }
}
