// Gives every file one small number, however its path is spelled.

import { resolve } from 'node:path';

/** Ids of paths, resolved against one root. Each spelling is resolved once; case is not folded. */
export class PathTable {
  readonly #root: string;
  readonly #bySpelling = new Map<string, number>();
  readonly #byPath = new Map<string, number>();

  /** @param root the absolute path that relative spellings start from */
  constructor(root: string) {
    this.#root = root;
  }

  /** Ids given so far; they are the integers below it. */
  get size(): number {
    return this.#byPath.size;
  }

  idOf(spelling: string): number {
    const known = this.#bySpelling.get(spelling);
    if (known !== undefined) return known;
    const path = resolve(this.#root, spelling);
    const id = this.#byPath.get(path) ?? this.#byPath.size;
    this.#byPath.set(path, id);
    this.#bySpelling.set(ownString(spelling), id);
    return id;
  }
}

/**
 * A copy that is no part of a longer string. A path that was cut out of a text would keep all of that
 * text in memory for as long as the table lives.
 */
function ownString(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
