// Matches token counts that arrive from workers with the callers that wait for them.

import type { IContent } from '../../shared/content.js';
import { pushTo } from '../../shared/lists-by-key.js';

interface Wait {
  readonly contents: readonly IContent[];
  /** All entries before this index have arrived. */
  arrived: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Token counts that were requested from workers, and the callers that wait for them. */
export class Arrivals {
  readonly #expected: Set<IContent> = new Set();
  /** Held weakly: a count is useless once its entry is gone. */
  readonly #tokens: WeakMap<IContent, number> = new WeakMap();
  /** Waits by the entry that each waits for next, so that an arrival touches only the waits that it advances. */
  readonly #waits: Map<IContent, Wait[]> = new Map();

  /** Notes entries that were sent to be counted. */
  expect(contents: readonly IContent[]): void {
    for (const content of contents) this.#expected.add(content);
  }

  /** Whether an entry's count has arrived or is expected. */
  knows(content: IContent): boolean {
    return this.#expected.has(content) || this.#tokens.has(content);
  }

  /** Notes arrived counts, one per entry. */
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

  /** Rejects all waits, because the expected counts will not arrive. */
  fail(error: Error): void {
    this.#expected.clear();
    const waits = [...this.#waits.values()].flat();
    this.#waits.clear();
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
      const content = wait.contents[wait.arrived];
      if (content === undefined || !this.#expected.has(content)) continue;
      pushTo(this.#waits, content, wait);
      return;
    }
    wait.resolve();
  }
}
