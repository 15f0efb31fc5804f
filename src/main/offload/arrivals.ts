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
  /** Waits, by the entry that they wait for next: an arrival touches those that it brings further. */
  readonly #waits: Map<IContent, Wait[]> = new Map();

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
    const reached: Wait[] = [];
    for (const [at, content] of contents.entries()) {
      if (!this.#expected.delete(content)) continue;
      this.#tokens.set(content, tokens[at] ?? 0);
      const waits = this.#waits.get(content);
      if (waits === undefined) continue;
      reached.push(...waits);
      this.#waits.delete(content);
    }
    for (const wait of reached) this.#goOn(wait);
  }

  /** Tells all who wait that what is under way will not arrive. */
  fail(error: Error): void {
    this.#expected.clear();
    const waits = [...this.#waits.values()].flat();
    this.#waits.clear();
    for (const { reject } of waits) reject(error);
  }

  /** Resolves to the tokens of entries that this knows, once all of them are here. */
  async take(contents: readonly IContent[]): Promise<readonly number[]> {
    await new Promise<void>((resolve, reject) => {
      this.#goOn({ contents, arrived: 0, resolve, reject });
    });
    return contents.map((content) => this.#tokens.get(content) ?? 0);
  }

  #goOn(wait: Wait): void {
    for (; wait.arrived < wait.contents.length; wait.arrived += 1) {
      const content = wait.contents[wait.arrived];
      if (content === undefined || !this.#expected.has(content)) continue;
      const others = this.#waits.get(content);
      if (others === undefined) this.#waits.set(content, [wait]);
      else others.push(wait);
      return;
    }
    wait.resolve();
  }
}
