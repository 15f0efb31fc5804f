// Gives every file one small number, however its path is spelled.

import { resolve } from 'node:path';
import { ownString } from './own-string.js';

/** Ids of paths, resolved against one root. Each spelling is resolved once; case is not folded. */
export class PathTable {
  readonly #root: string;
  /** By spelling; a path that was resolved is one as well. */
  readonly #ids = new Map<string, number>();
  #size = 0;

  /** @param root the absolute path that relative spellings start from */
  constructor(root: string) {
    this.#root = root;
  }

  /** Ids given so far; they are the integers below it. */
  get size(): number {
    return this.#size;
  }

  idOf(spelling: string): number {
    const known = this.#ids.get(spelling);
    if (known !== undefined) return known;
    const path = resolve(this.#root, spelling);
    const id = this.#ids.get(path) ?? this.#size;
    if (id === this.#size) {
      this.#size += 1;
      this.#ids.set(ownString(path), id);
    }
    if (path !== spelling) this.#ids.set(ownString(spelling), id);
    return id;
  }
}
